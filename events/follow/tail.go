package follow

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
)

// refill is how many messages are fetched from the log at once.
const refill = 500

// restart says that what was told does not lead on: a new snapshot is needed.
type restart struct{ lost Gap }

func (r *restart) Error() string { return "events are lost: " + r.lost.Why }

func anew(why string) error { return &restart{Gap{Why: why}} }

func lost(from, to uint64) error {
	return &restart{Gap{From: from, To: to, Why: "the log does not hold them any more"}}
}

// hear takes a message that was heard. One that is not the next is a sign that others are missing, no more.
func (f *follower) hear(ctx context.Context, m *nats.Msg) error {
	s, ok := bus.Heard(m, bus.Peers)
	switch {
	case !ok || f.unsure || s.Seq <= f.last:
		return nil
	case s.Seq > f.last+1:
		return f.catchUp(ctx)
	}
	f.ask.Reset(quiet)
	return f.take(ctx, s)
}

// take tells the next message of the log.
func (f *follower) take(ctx context.Context, s bus.Message) error {
	f.last, f.lastData = s.Seq, s.Data
	if s.Garbled || !strings.HasPrefix(s.Subject, "peers.v1."+f.host+".") {
		return nil // a host that was renamed has its old name's events in the same log
	}
	e, err := events.Decode(s.Data)
	if err != nil {
		return nil
	}
	if e.Head().Epoch != f.epoch {
		return anew("the log is another one")
	}
	return f.tell(ctx, Change{Seq: s.Seq, Event: e})
}

// catchUp reads the log from the last message that was told to its end, and tells what is new. Where the log does not
// answer it is asked again soon. Where it holds nothing there, all may be too old by now, or the log be another one:
// the watcher says which.
func (f *follower) catchUp(ctx context.Context) error {
	if f.moved() {
		return anew("the host has another name now")
	}
	for asked := false; ; {
		b, err := bus.Direct(ctx, f.nc, bus.Peers, bus.Query{Seq: max(f.last, 1), Batch: refill})
		if err != nil {
			return f.askSoon(ctx)
		}
		for _, s := range b.Messages {
			if err := f.follow(ctx, s); err != nil {
				return err
			}
		}
		if len(b.Messages) == 0 && f.last > 0 {
			now, err := bus.AskSnapshot(ctx, f.nc, f.host, bus.SnapshotRequest{})
			switch {
			case err != nil:
				return f.askSoon(ctx)
			case now.Epoch != f.epoch || now.Seq < f.last:
				return anew("the log is another one")
			case now.Seq > f.last && asked:
				return lost(f.last+1, now.Seq)
			case now.Seq > f.last: // published since the log was read, perhaps
				asked = true
				continue
			}
		}
		if b.Pending == 0 {
			f.unsure = false
			f.ask.Reset(quiet)
			return nil
		}
	}
}

func (f *follower) askSoon(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.nc.IsClosed() {
		return fmt.Errorf("follow: %w", nats.ErrConnectionClosed)
	}
	f.unsure = true
	f.ask.Reset(retry)
	return nil
}

// follow takes a message of the log behind, or at, the last that was told.
func (f *follower) follow(ctx context.Context, s bus.Message) error {
	switch {
	case s.Seq < f.last: // its place is not known
		return nil
	case s.Seq > f.last+1:
		return lost(f.last+1, s.Seq-1)
	case s.Seq > f.last:
		return f.take(ctx, s)
	case f.lastData == nil:
		f.lastData = s.Data
		if e, err := events.Decode(s.Data); err == nil && e.Head().Epoch != f.epoch {
			return anew("the log is another one")
		}
	case !bytes.Equal(f.lastData, s.Data):
		return anew("the server forgot what it had sent")
	}
	return nil
}
