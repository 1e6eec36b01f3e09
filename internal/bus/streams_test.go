package bus_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/internal/bus"
)

func TestStreamsAreAsWritten(t *testing.T) {
	r := start(t)
	const h, day = "laptop=2Elocal", 24 * time.Hour
	file := jetstream.StreamConfig{
		Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Duplicates: 100 * time.Millisecond, AllowDirect: true, DenyPurge: true,
		Replicas: 1, MaxConsumers: -1, MaxMsgs: -1, MaxMsgsPerSubject: -1,
	}
	peers, mail, ctl, log := file, file, file, file
	peers.Name, peers.Subjects = "PEERS", []string{"ingest.peers.v1." + h + ".*.*.*.*"}
	peers.Discard, peers.DenyDelete, peers.AllowAtomicPublish = jetstream.DiscardOld, true, true
	peers.MaxAge, peers.MaxBytes, peers.MaxMsgSize = 7*day, 128<<20, 64<<10
	peers.SubjectTransform = &jetstream.SubjectTransformConfig{
		Source:      "ingest.peers.v1." + h + ".*.*.*.*",
		Destination: "peers.v1." + h + ".{{wildcard(1)}}.{{wildcard(2)}}.{{wildcard(3)}}.{{wildcard(4)}}",
	}
	peers.RePublish = &jetstream.RePublish{Source: "peers.v1." + h + ".>", Destination: "peers.v1." + h + ".>"}

	mail.Name, mail.Subjects = "MAIL", []string{"mail.v1.q." + h + ".>"}
	mail.Discard, mail.MaxMsgsPerSubject, mail.DiscardNewPerSubject = jetstream.DiscardNew, 1, true
	mail.MaxBytes, mail.MaxMsgSize = 256<<20, 320<<10
	mail.RePublish = &jetstream.RePublish{Source: "mail.v1.q." + h + ".>", Destination: "note.mail.v1.q." + h + ".>", HeadersOnly: true}

	ctl.Name, ctl.Subjects = "MAILCTL", []string{"mail.v1.c." + h + ".*.*"}
	ctl.Discard, ctl.MaxMsgsPerSubject, ctl.DenyDelete = jetstream.DiscardOld, 1, true
	ctl.MaxAge, ctl.MaxBytes, ctl.MaxMsgSize = 7*day, 16<<20, 4<<10
	ctl.RePublish = &jetstream.RePublish{Source: "mail.v1.c." + h + ".>", Destination: "note.mail.v1.c." + h + ".>", HeadersOnly: true}

	log.Name, log.Subjects = "MAILLOG", []string{"ingest.mail.v1.log." + h + ".*.*"}
	log.Discard, log.DenyDelete = jetstream.DiscardNew, true
	log.MaxAge, log.MaxBytes, log.MaxMsgSize = 30*day, 256<<20, 64<<10
	log.SubjectTransform = &jetstream.SubjectTransformConfig{
		Source: "ingest.mail.v1.log." + h + ".*.*", Destination: "mail.v1.log." + h + ".{{wildcard(1)}}.{{wildcard(2)}}",
	}
	log.RePublish = &jetstream.RePublish{Source: "mail.v1.log." + h + ".>", Destination: "mail.v1.log." + h + ".>"}

	for _, want := range []jetstream.StreamConfig{peers, mail, ctl, log} {
		s, err := r.js.Stream(t.Context(), want.Name)
		if err != nil {
			t.Fatal(err)
		}
		got := s.CachedInfo().Config
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(jetstream.StreamConfig{}, "Metadata", "ConsumerLimits")); d != "" {
			t.Errorf("stream %s (-want +got):\n%s", want.Name, d)
		}
	}
}

func TestEpochStaysWithTheStream(t *testing.T) {
	r := start(t)
	ensure := func(name string) string {
		epoch, err := bus.EnsureStreams(t.Context(), r.js, name)
		if err != nil {
			t.Fatal(err)
		}
		return epoch
	}
	first := r.epoch
	if first == "" || ensure(host) != first {
		t.Errorf("another epoch after an update: %q, %q", first, ensure(host))
	}
	if got := ensure("renamed"); got != first {
		t.Errorf("epoch %q after a renaming, want %q", got, first)
	}
	r.srv.Shutdown()
	r.run(t, "")
	if r.epoch != first {
		t.Errorf("epoch %q after a restart, want %q", r.epoch, first)
	}
	if err := r.js.DeleteStream(t.Context(), bus.Peers); err != nil {
		t.Fatal(err)
	}
	if got := ensure(host); got == "" || got == first {
		t.Errorf("epoch %q of a new stream, the old one's was %q", got, first)
	}
}

// A host that was renamed goes on in the same stream, behind what the old name has there.
func TestRenamedHostGoesOn(t *testing.T) {
	r := start(t)
	publish(t, r.log, appeared(1), gone(1), appeared(2))
	epoch, err := bus.EnsureStreams(t.Context(), r.js, "renamed")
	if err != nil {
		t.Fatal(err)
	}
	renamed := bus.NewLog(r.js, "renamed", epoch, quiet)
	if view := fold(t, renamed); len(view) != 0 {
		t.Errorf("the new name has %v", view.IDs())
	}
	if at, err := renamed.State(); err != nil || at.Seq != 3 {
		t.Errorf("the log stands at %d (%v), want 3", at.Seq, err)
	}
	for n, want := range []uint64{4, 5} {
		if got := publish(t, renamed, appeared(n)); got[0].Seq != want || got[0].Event.Head().Host != "renamed" {
			t.Errorf("stored as %d by %q, want %d by renamed", got[0].Seq, got[0].Event.Head().Host, want)
		}
	}
	if got, want := publishedSubject(t, r, 5), "peers.v1.renamed."; got[:len(want)] != want {
		t.Errorf("subject %q", got)
	}
}

func publishedSubject(t *testing.T, r *rig, seq uint64) string {
	t.Helper()
	b, err := bus.Direct(t.Context(), r.nc, bus.Peers, bus.Query{Seq: seq})
	if err != nil || len(b.Messages) != 1 {
		t.Fatalf("message %d: %v, %v", seq, b, err)
	}
	return b.Messages[0].Subject
}
