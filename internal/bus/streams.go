package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/events"
)

// The streams of a host.
const (
	Peers   = "PEERS"   // the events
	Mail    = "MAIL"    // queued mails
	MailCtl = "MAILCTL" // wishes to take a mail back
	MailLog = "MAILLOG" // the receipts
)

const (
	// ingest stands in front of the subjects that the watcher and the mailer publish on. A stream stores without it
	// and republishes what it stored, so that nobody hears a message that the stream refuses.
	ingest = "ingest."

	// epochKey is where the metadata of PEERS has the log's identity.
	epochKey = "peerbus-epoch"

	day = 24 * time.Hour

	// window is the shortest memory for Nats-Msg-Id that the server takes; 0 would be its two minutes. Nobody uses
	// such ids: a stranger could use one up.
	window = 100 * time.Millisecond

	// maxEvent is what PEERS takes at most of one message, headers included.
	maxEvent = 64 << 10
)

// EnsureStreams makes the four streams of the host, or brings those that are there to the form they have here, and
// answers the identity of the log in PEERS. The identity is made with the stream and goes with it: another one means
// that the history has started anew.
func EnsureStreams(ctx context.Context, js jetstream.JetStream, host string) (epoch string, err error) {
	h := events.Token(host)
	if epoch, err = epochOf(ctx, js); err != nil {
		return "", err
	}
	if epoch == "" {
		id, err := uuid.NewRandom()
		if err != nil {
			return "", fmt.Errorf("name the log: %w", err)
		}
		epoch = id.String()
	}
	for _, cfg := range []jetstream.StreamConfig{peersStream(h, epoch), mailStream(h), mailCtlStream(h), mailLogStream(h)} {
		if _, err := js.CreateOrUpdateStream(ctx, cfg); err != nil {
			return "", fmt.Errorf("make stream %s: %w", cfg.Name, err)
		}
	}
	return epoch, nil
}

// epochOf is the identity that PEERS has, "" where there is no such stream yet.
func epochOf(ctx context.Context, js jetstream.JetStream) (string, error) {
	s, err := js.Stream(ctx, Peers)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for stream %s: %w", Peers, err)
	}
	return s.CachedInfo().Config.Metadata[epochKey], nil
}

func peersStream(h, epoch string) jetstream.StreamConfig {
	in, out := ingest+"peers.v1."+h+".*.*.*.*", "peers.v1."+h+"."
	return jetstream.StreamConfig{
		Name: Peers, Subjects: []string{in}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		SubjectTransform: &jetstream.SubjectTransformConfig{
			Source: in, Destination: out + "{{wildcard(1)}}.{{wildcard(2)}}.{{wildcard(3)}}.{{wildcard(4)}}",
		},
		RePublish: &jetstream.RePublish{Source: out + ">", Destination: out + ">"},
		MaxAge:    7 * day, MaxBytes: 128 << 20, MaxMsgSize: maxEvent, Duplicates: window,
		AllowDirect: true, AllowAtomicPublish: true, DenyDelete: true, DenyPurge: true,
		Metadata: map[string]string{epochKey: epoch},
	}
}

func mailStream(h string) jetstream.StreamConfig {
	subjects := "mail.v1.q." + h + ".>"
	return jetstream.StreamConfig{
		Name: Mail, Subjects: []string{subjects}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		RePublish: &jetstream.RePublish{Source: subjects, Destination: "note." + subjects, HeadersOnly: true},
		MaxBytes:  256 << 20, MaxMsgSize: 320 << 10, MaxMsgsPerSubject: 1, DiscardNewPerSubject: true, Duplicates: window,
		AllowDirect: true, DenyPurge: true,
	}
}

func mailCtlStream(h string) jetstream.StreamConfig {
	subjects := "mail.v1.c." + h + "."
	return jetstream.StreamConfig{
		Name: MailCtl, Subjects: []string{subjects + "*.*"}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		RePublish: &jetstream.RePublish{Source: subjects + ">", Destination: "note." + subjects + ">", HeadersOnly: true},
		MaxAge:    7 * day, MaxBytes: 16 << 20, MaxMsgSize: 4 << 10, MaxMsgsPerSubject: 1, Duplicates: window,
		AllowDirect: true, DenyDelete: true, DenyPurge: true,
	}
}

func mailLogStream(h string) jetstream.StreamConfig {
	in, out := ingest+"mail.v1.log."+h+".*.*", "mail.v1.log."+h+"."
	return jetstream.StreamConfig{
		// Losing a claim is worse than a stop, hence DiscardNew.
		Name: MailLog, Subjects: []string{in}, Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		SubjectTransform: &jetstream.SubjectTransformConfig{Source: in, Destination: out + "{{wildcard(1)}}.{{wildcard(2)}}"},
		RePublish:        &jetstream.RePublish{Source: out + ">", Destination: out + ">"},
		MaxAge:           30 * day, MaxBytes: 256 << 20, MaxMsgSize: 64 << 10, Duplicates: window,
		AllowDirect: true, DenyDelete: true, DenyPurge: true,
	}
}
