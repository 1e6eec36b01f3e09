package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/internal/state"
)

// What a direct get answers when it has no messages to answer with.
var (
	// ErrNobody says that there was no such stream or service, asked twice.
	ErrNobody = errors.New("nobody answers")
	// ErrSilence says that an answer, or the rest of it, did not come in time.
	ErrSilence = errors.New("no answer in time")
	// ErrReply says that what came is not an answer to what was asked.
	ErrReply = errors.New("not an answer to what was asked")
)

const (
	// askAgain is the pause before the one repetition of a question that nobody took. While the server's accounts
	// are reloaded its service imports are away for that long: 5 of 16,600 questions met it.
	askAgain = 20 * time.Millisecond

	// patience is how long a reply may take, and each further one of a batch. A batch of 200 takes 1.5 ms.
	patience = 2 * time.Second

	// maxBatchBytes bounds what one direct get answers with: the server sends it as fast as it can, and cuts off a
	// client that has 64 MB still to read.
	maxBatchBytes = 8 << 20

	// maxLastOnEach is how many subjects the server answers for at once.
	maxLastOnEach = 1024

	// spare is room for the end of a batch, and for replies that others aim at our inbox.
	spare = 16
)

// Query asks for stored messages: for one by its sequence; with Batch, for up to that many from Seq, or from Since, or
// the first, on; or for the last on a subject.
type Query struct {
	Seq   uint64
	Since time.Time
	Batch int
	// On limits a batch to a subject, which may have wildcards.
	On string
	// LastOn asks for the last message on a subject, which may have wildcards.
	LastOn string
	// LastOnEach asks for the last message on every subject that it matches, which may be 1,024 at the most.
	LastOnEach string
}

type queryWire struct {
	Seq        uint64    `json:"seq,omitzero"`
	Since      time.Time `json:"start_time,omitzero"`
	Batch      int       `json:"batch,omitzero"`
	On         string    `json:"next_by_subj,omitzero"`
	LastOn     string    `json:"last_by_subj,omitzero"`
	LastOnEach []string  `json:"multi_last,omitzero"`
	MaxBytes   int       `json:"max_bytes,omitzero"`
}

// Batch is what a direct get found, in the order of the sequences.
type Batch struct {
	Messages []Message
	Pending  uint64 // how many more the query would find behind these
}

// Direct reads stored messages from a stream. Nothing found is an empty batch and no error. The errors are [ErrNobody]
// for a stream that is not there, [ErrSilence], [ErrReply], and the cause of ctx. It asks on the subjects that
// nc's role may ask on.
func Direct(ctx context.Context, nc *nats.Conn, stream string, q Query) (Batch, error) {
	w := queryWire{Seq: q.Seq, Since: q.Since, Batch: q.Batch, On: q.On, LastOn: q.LastOn}
	most := 0 // in a batch
	if q.LastOnEach != "" {
		w.LastOnEach, most = []string{q.LastOnEach}, maxLastOnEach
	}
	if q.Batch > 0 {
		w.MaxBytes, most = maxBatchBytes, q.Batch
		if q.Seq == 0 && q.Since.IsZero() {
			w.Seq = 1
		}
	}
	request, err := json.Marshal(w)
	if err != nil {
		return Batch{}, fmt.Errorf("read %s: %w", stream, err)
	}
	b, err := direct(ctx, nc, stream, request, most)
	if errors.Is(err, ErrNobody) && pause(ctx, askAgain) {
		b, err = direct(ctx, nc, stream, request, most)
	}
	if err == nil {
		err = b.check(stream, q)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("read %s: %w", stream, err)
	}
	return b, nil
}

// direct asks once: for one message, or a batch of most with its end behind it. It does not use the library's request,
// which takes a stored header "Status: 503" for its own.
func direct(ctx context.Context, nc *nats.Conn, stream string, request []byte, most int) (Batch, error) {
	inbox := nc.NewInbox()
	replies := make(chan *nats.Msg, most+spare)
	sub, err := nc.ChanSubscribe(inbox, replies)
	if err != nil {
		return Batch{}, err
	}
	defer func() { _ = sub.Unsubscribe() }() // it fails only where the connection is closed
	if err := nc.PublishRequest(apiPrefix(nc)+"DIRECT.GET."+stream, inbox, request); err != nil {
		return Batch{}, err
	}
	var b Batch
	silence := time.NewTimer(patience)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return Batch{}, context.Cause(ctx)
		case <-silence.C:
			return Batch{}, ErrSilence
		case m := <-replies:
			silence.Reset(patience)
			done, err := b.add(Parse(m), most > 0)
			if done || err != nil {
				return b, err
			}
		}
	}
}

// add takes the next reply and tells whether it was the last.
func (b *Batch) add(r Reply, many bool) (done bool, err error) {
	if n := len(b.Messages); n > 0 && b.Messages[n-1].Seq == 0 {
		b.Messages[n-1].Seq = r.Previous
	}
	switch {
	case r.Kind != Control:
		b.Messages = append(b.Messages, r.Message)
		b.Pending = r.Pending
		return !many, nil
	case r.Status == 204:
		b.Pending = r.Pending
		return true, nil
	case r.Status == 404:
		return true, nil
	case r.Status == 503:
		return true, ErrNobody
	}
	return true, fmt.Errorf("%w: %d %s", ErrReply, r.Status, r.Description)
}

// check refuses messages that do not belong to the query: whoever has our key can aim replies at our inbox. That one
// names another stream may be its sender's doing.
func (b *Batch) check(stream string, q Query) error {
	least, exact := q.Seq, q.Seq > 0 && q.Batch == 0
	for i := range b.Messages {
		m := &b.Messages[i]
		m.Garbled = m.Garbled || m.Stream != stream
		if m.Seq == 0 && exact {
			m.Seq = q.Seq
		}
		if m.Seq == 0 {
			continue
		}
		if m.Seq < least || (exact && m.Seq != q.Seq) {
			return fmt.Errorf("%w: message %d", ErrReply, m.Seq)
		}
		least = m.Seq + 1
	}
	return nil
}

// apiPrefix is the beginning of the subjects on which nc may use the JetStream API. Accounts other than the one that
// has the streams import it under a name of their own, since every account answers for $JS.API itself. What an
// inbox is called says whose it is, as the account's permissions allow no other.
func apiPrefix(nc *nats.Conn) string {
	role, ok := strings.CutPrefix(nc.Opts.InboxPrefix, nats.InboxPrefix)
	switch {
	case !ok, role == "", role == watcherRole, role == state.Operator:
		return "$JS.API."
	}
	return "core."
}

// pause waits, and tells whether it did so to the end.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
