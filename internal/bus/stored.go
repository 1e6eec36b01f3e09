package bus

import (
	"context"
	"iter"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
)

// StoredEvent is an event as the log has it.
type StoredEvent struct {
	Seq   uint64
	Event events.Event
	Time  time.Time // when it was stored
}

// tailBatch is how many stored events are read at once.
const tailBatch = 500

// From says where reading the log begins: at a sequence, at an instant, or, where both are zero, at its beginning.
type From struct {
	Seq   uint64
	Since time.Time
}

// StoredEvents are the events of the log from some point on until its end, all hosts' that are in it. Messages that
// are no events known here are left out. An error ends them; it is one of [Direct]'s.
func StoredEvents(ctx context.Context, nc *nats.Conn, from From) iter.Seq2[StoredEvent, error] {
	return func(yield func(StoredEvent, error) bool) {
		q := Query{Seq: from.Seq, Since: from.Since, Batch: tailBatch}
		if from.Seq != 0 {
			q.Since = time.Time{}
		}
		for {
			b, err := Direct(ctx, nc, Peers, q)
			if err != nil {
				yield(StoredEvent{}, err)
				return
			}
			for _, m := range b.Messages {
				q = Query{Seq: max(m.Seq, q.Seq) + 1, Batch: tailBatch}
				e, err := events.Decode(m.Data)
				if m.Garbled || err != nil {
					continue
				}
				if !yield(StoredEvent{m.Seq, e, m.Time}, nil) {
					return
				}
			}
			if b.Pending == 0 || len(b.Messages) == 0 {
				return
			}
		}
	}
}
