package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"peerbus/events"
	"peerbus/reconcile"
)

const (
	// batchEvents is how many messages the server takes in one atomic batch.
	batchEvents = 1000

	// storeIn is how long the server may take to store a publish. An fsync takes 0.2 to 20 ms; a disk that hangs for
	// longer than this is not available.
	storeIn = 5 * time.Second
)

// Publish stores the events behind the last one that was folded or published, all or none of each 1,000, and returns
// them as stored: with their sequences, and with host, epoch and, where it has none, a new id. An event that the
// server refuses for its content is left out, counted and logged, and the others of its 1,000 are then stored in
// smaller batches. The error is [reconcile.ErrConflict] when somebody else has published meanwhile, [ErrUnavailable],
// or the cause of ctx; what was stored before it is returned with it, and the log must be folded anew.
func (l *Log) Publish(ctx context.Context, evs []events.Event) ([]events.Last, error) {
	if !l.isFolded() {
		return nil, fmt.Errorf("publish: %w", ErrNotFolded)
	}
	drafts, err := l.drafts(ctx, evs)
	if err != nil {
		return nil, err
	}
	var out []events.Last
	for len(drafts) > 0 {
		n := min(len(drafts), batchEvents)
		stored, err := l.store(ctx, drafts[:n])
		out = append(out, stored...)
		if err != nil {
			return out, err
		}
		drafts = drafts[n:]
	}
	return out, nil
}

// draft is an event on its way into the log.
type draft struct {
	event events.Event
	data  []byte
}

func (d draft) msg() *nats.Msg { return &nats.Msg{Subject: ingest + d.event.Subject(), Data: d.data} }

// drafts stamps and encodes the events, but for those that cannot be.
func (l *Log) drafts(ctx context.Context, evs []events.Event) ([]draft, error) {
	drafts := make([]draft, 0, len(evs))
	for _, e := range evs {
		m := e.Head()
		m.Host, m.Epoch = l.host, l.epoch
		if m.ID == "" {
			id, err := uuid.NewV7()
			if err != nil {
				return nil, fmt.Errorf("name an event: %w", err)
			}
			m.ID = id.String()
		}
		e = events.Stamp(e, m)
		data, err := events.Encode(e)
		if err != nil {
			l.refuse(ctx, e, err)
			continue
		}
		drafts = append(drafts, draft{e, data})
	}
	return drafts, nil
}

// store stores the drafts in one batch, and in halves where the server refuses some of it. The halves end at single
// events, of which it says why.
func (l *Log) store(ctx context.Context, drafts []draft) ([]events.Last, error) {
	seq, err := l.send(ctx, drafts)
	switch judge(err) {
	case stored:
		return l.stored(drafts, seq), nil
	case conflict:
		forgotten, asked := l.forgotten(ctx)
		if asked != nil {
			return nil, unavailable(ctx, asked)
		}
		if forgotten {
			l.fence = 0
			return l.store(ctx, drafts)
		}
		l.count(func(c *LogCounts) { c.Conflicts++ })
		return nil, fmt.Errorf("%w: %w", reconcile.ErrConflict, err)
	case failed:
		return nil, unavailable(ctx, err)
	}
	if len(drafts) == 1 {
		l.refuse(ctx, drafts[0].event, err)
		return nil, nil
	}
	half := len(drafts) / 2
	first, err := l.store(ctx, drafts[:half])
	if err != nil {
		return first, err
	}
	second, err := l.store(ctx, drafts[half:])
	return append(first, second...), err
}

// forgotten tells whether the fence does not hold for the one reason that the log has none of the host's events any
// more, the last that is known here among them. Who writes behind it leaves one that is younger.
func (l *Log) forgotten(ctx context.Context) (bool, error) {
	if l.fence == 0 {
		return false, nil
	}
	last, err := Direct(ctx, l.js.Conn(), Peers, Query{LastOn: l.prefix + ">"})
	return err == nil && len(last.Messages) == 0, err
}

// send publishes the drafts, all or none, behind the fence and answers the sequence of the last.
func (l *Log) send(ctx context.Context, drafts []draft) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeIn)
	defer cancel()
	if len(drafts) == 1 {
		ack, err := l.js.PublishMsg(ctx, drafts[0].msg(), jetstream.WithExpectLastSequenceForSubject(l.fence, l.prefix+">"))
		if err != nil {
			return 0, err
		}
		return ack.Sequence, nil
	}
	// Nothing is waited for but the commit: that is where the fence is checked, and where ctx is heeded.
	batch, err := jetstreamext.NewBatchPublisher(l.js, jetstreamext.BatchFlowControl{AckTimeout: storeIn})
	if err != nil {
		return 0, err
	}
	fence := jetstreamext.WithBatchExpectLastSequenceForSubject(l.fence, l.prefix+">")
	last := len(drafts) - 1
	for i, d := range drafts[:last] {
		var opts []jetstreamext.BatchMsgOpt
		if i == 0 {
			opts = append(opts, fence)
		}
		if err := batch.AddMsg(d.msg(), opts...); err != nil {
			return 0, err
		}
	}
	ack, err := batch.CommitMsg(ctx, drafts[last].msg())
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// stored takes the drafts, the last of which was acknowledged with seq, into the view.
func (l *Log) stored(drafts []draft, seq uint64) []events.Last {
	out := make([]events.Last, len(drafts))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, d := range drafts {
		out[i] = events.Last{Seq: seq - uint64(len(drafts)-1-i), Event: d.event}
		l.view.Apply(out[i].Seq, d.event)
	}
	l.seq, l.fence = seq, seq
	l.counts.Published += uint64(len(drafts))
	return out
}

func (l *Log) isFolded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folded
}

func (l *Log) refuse(ctx context.Context, e events.Event, why error) {
	l.count(func(c *LogCounts) { c.Refused++ })
	l.logger.WarnContext(ctx, "the log refuses an event, leaving it out", "subject", e.Subject(), "err", why)
}

func (l *Log) count(change func(*LogCounts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.counts)
}
