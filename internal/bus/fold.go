package bus

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/events"
)

// foldBatch is how many messages a fold reads at once.
const foldBatch = 1000

// fold is a fold on its way.
type fold struct {
	view    events.View
	at      time.Time // of the last event
	seq     uint64    // of the last message
	fence   uint64    // of the last message about this host
	skipped uint64
}

// Fold reads the log to its end and returns what it says is there, which the caller may change, and when its last
// event was. A peer that was there before stays while the log has nothing about it any more: retention has forgotten
// it, nobody has said that it is gone. Messages that are no events known here are skipped and counted. The error is
// [ErrUnavailable] or the cause of ctx.
func (l *Log) Fold(ctx context.Context) (events.View, time.Time, error) {
	info, err := l.info(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	// What is not retained any more has a sequence too.
	f := fold{view: l.known(info), seq: max(info.State.FirstSeq, 1) - 1}
	for more := true; more; {
		b, err := Direct(ctx, l.js.Conn(), Peers, Query{Seq: f.seq + 1, Batch: foldBatch})
		if err != nil {
			return nil, time.Time{}, unavailable(ctx, err)
		}
		for _, m := range b.Messages {
			f.take(m, l.prefix)
		}
		more = b.Pending > 0 && len(b.Messages) > 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.folded, l.view, l.seq, l.fence = true, f.view, f.seq, f.fence
	l.counts.Skipped += f.skipped
	return maps.Clone(f.view), f.at, nil
}

// known is the view so far, where it is one of the stream that info is about. What is retained leads from it to the
// same as it would from nothing, but for the peers that the stream has forgotten.
func (l *Log) known(info *jetstream.StreamInfo) events.View {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.folded || info.Config.Metadata[epochKey] != l.epoch || info.State.LastSeq < l.seq {
		return make(events.View)
	}
	return maps.Clone(l.view)
}

// take applies the next message. A host that was renamed has its old name's events in the same stream.
func (f *fold) take(m Message, prefix string) {
	f.seq = max(f.seq, m.Seq)
	if !m.Garbled && !strings.HasPrefix(m.Subject, prefix) {
		return
	}
	f.fence = f.seq
	e, err := events.Decode(m.Data)
	if m.Garbled || err != nil {
		f.skipped++
		return
	}
	f.view.Apply(m.Seq, e)
	f.at = e.Head().Time.Std()
}
