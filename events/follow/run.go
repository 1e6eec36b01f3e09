package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
)

const (
	// pending is how many messages wait for each. Those that come when it is full are dropped and fetched later.
	pending = 1024

	// quiet is how long nothing may be heard before the log is asked whether there was something: a lost message
	// shows only with the next one.
	quiet = 2 * time.Second

	// retry is the pause before the log is asked again after it did not answer.
	retry = 200 * time.Millisecond
)

// follower is one call of Follow.
type follower struct {
	nc     *nats.Conn
	filter Filter
	each   func(Change) error
	host   string // its token, once it is subscribed to

	heard chan *nats.Msg
	sub   *nats.Subscription

	epoch string
	// last is the sequence up to which everything was told, and lastData the message that had it, nil where that is
	// not known. A server that was killed may have sent what it then did not store, and give the sequence away again.
	last     uint64
	lastData []byte
	// unsure: something may have been missed and the log has not answered yet. Nothing is told meanwhile.
	unsure bool
	ask    *time.Timer // when the log is to be asked
}

func newFollower(nc *nats.Conn, f Filter, keep int, each func(Change) error) *follower {
	return &follower{nc: nc, filter: f, each: each, heard: make(chan *nats.Msg, keep)}
}

func (f *follower) run(ctx context.Context) error {
	status := f.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer f.nc.RemoveStatusListener(status)
	defer f.unsubscribe()
	for {
		if err := f.snapshot(ctx, status); err != nil {
			return err
		}
		err := f.tail(ctx, status)
		r, ok := errors.AsType[*restart](err)
		if !ok {
			return err
		}
		if err := f.tell(ctx, Change{Lost: &r.lost}); err != nil {
			return err
		}
	}
}

// tell calls each, but not once ctx has ended.
func (f *follower) tell(ctx context.Context, c Change) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.Event != nil && !f.filter.takes(c.Event) {
		return nil
	}
	return f.each(c)
}

// subscribe listens to the host that is to be followed, and to no other.
func (f *follower) subscribe(ctx context.Context, status <-chan nats.Status) error {
	host, err := f.settleHost(ctx, status)
	if err != nil || host == f.host {
		return err
	}
	f.unsubscribe()
	f.sub, err = f.nc.Subscribe("peers.v1."+host+".>", func(m *nats.Msg) {
		select {
		case f.heard <- m:
		default: // the gap will be seen
		}
	})
	if err != nil {
		return fmt.Errorf("follow %s: %w", host, err)
	}
	f.host = host
	return nil
}

func (f *follower) unsubscribe() {
	if f.sub != nil {
		_ = f.sub.Unsubscribe() // it fails only where the connection is closed
	}
}

// settleHost waits for the connection to know the server's name, where that is whom to follow.
func (f *follower) settleHost(ctx context.Context, status <-chan nats.Status) (host string, err error) {
	if f.filter.Host != "" {
		return events.Token(f.filter.Host), nil
	}
	for {
		if host = f.nc.ConnectedServerName(); host != "" {
			return host, nil
		}
		if err := f.wait(ctx, status, quiet); err != nil {
			return "", err
		}
	}
}

// moved tells whether the server has another name than the one that is followed as its own.
func (f *follower) moved() bool {
	name := f.nc.ConnectedServerName()
	return f.filter.Host == "" && name != "" && name != f.host
}

// wait waits for some time, or less if the connection comes back meanwhile.
func (f *follower) wait(ctx context.Context, status <-chan nats.Status, d time.Duration) error {
	if f.nc.IsClosed() {
		return fmt.Errorf("follow: %w", nats.ErrConnectionClosed)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	case s := <-status:
		if s == nats.CLOSED {
			return fmt.Errorf("follow: %w", nats.ErrConnectionClosed)
		}
		return nil
	}
}

// tail tells what comes, until something is lost, each has had enough, or it is over.
func (f *follower) tail(ctx context.Context, status <-chan nats.Status) error {
	f.ask = time.NewTimer(quiet)
	defer f.ask.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case s := <-status:
			err = f.changed(ctx, s)
		case <-f.ask.C:
			err = f.catchUp(ctx)
		case m := <-f.heard:
			select { // m may come from a server that has been away: that is looked into first
			case s := <-status:
				err = f.changed(ctx, s)
			default:
			}
			if err == nil {
				err = f.hear(ctx, m)
			}
		}
		if err != nil {
			return err
		}
	}
}

// changed looks for what was missed while the connection was away.
func (f *follower) changed(ctx context.Context, s nats.Status) error {
	if s == nats.CLOSED {
		return fmt.Errorf("follow: %w", nats.ErrConnectionClosed)
	}
	return f.catchUp(ctx)
}
