package follow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
)

// A snapshot that could not be had is asked for again after firstWait, and then after twice as long each time up to
// maxWait, all give or take a half, so that many followers of a watcher that was away do not come at once.
const (
	firstWait = 50 * time.Millisecond
	maxWait   = time.Second

	// flushIn is how long the server may take to say that it has the subscription.
	flushIn = 2 * time.Second
)

// view is what was there when seq was the last sequence of the log.
type view struct {
	epoch string
	seq   uint64
	peers []Change
}

// snapshot subscribes, tells what is there, and waits for whoever says it. The host may get another name meanwhile.
func (f *follower) snapshot(ctx context.Context, status <-chan nats.Status) error {
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		if err := f.subscribe(ctx, status); err != nil {
			return err
		}
		v, err := f.collect(ctx)
		if err == nil {
			return f.tellView(ctx, v)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f.wait(ctx, status, wait/2+rand.N(wait)); err != nil {
			return err
		}
	}
}

// collect asks for all pages of one snapshot.
func (f *follower) collect(ctx context.Context) (view, error) {
	// What is published behind the snapshot must be heard.
	within, cancel := context.WithTimeout(ctx, flushIn)
	defer cancel()
	if err := f.nc.FlushWithContext(within); err != nil {
		return view{}, fmt.Errorf("subscribe: %w", err)
	}
	page, err := bus.AskSnapshot(ctx, f.nc, f.host, bus.SnapshotRequest{})
	if err != nil {
		return view{}, err
	}
	v := view{epoch: page.Epoch, seq: page.Seq}
	v.add(page)
	for n := 1; page.More; n++ {
		page, err = bus.AskSnapshot(ctx, f.nc, f.host, bus.SnapshotRequest{Seq: v.seq, Page: n})
		if err != nil {
			return view{}, err
		}
		if page.Epoch != v.epoch || page.Seq != v.seq || page.Page != n {
			return view{}, errors.New("a page of another snapshot")
		}
		v.add(page)
	}
	return v, nil
}

func (v *view) add(page bus.SnapshotPage) {
	for _, p := range page.Peers {
		if e, err := events.Decode(p.Event); err == nil {
			v.peers = append(v.peers, Change{Seq: p.Seq, Event: e, Snapshot: true})
		}
	}
}

// tellView tells the peers of a view, and that they are all.
func (f *follower) tellView(ctx context.Context, v view) error {
	f.epoch, f.last, f.lastData, f.unsure = v.epoch, v.seq, nil, false
	for _, c := range v.peers {
		if err := f.tell(ctx, c); err != nil {
			return err
		}
	}
	return f.tell(ctx, Change{Seq: v.seq, Ready: true})
}
