package follow_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
)

// truth is what the log acknowledged since the start of the trials.
type truth struct {
	t    *testing.T
	log  *bus.Log
	base bus.LogState

	mu     sync.Mutex
	stored []events.Last // the first is right behind base
	grown  chan struct{} // closed when there is more
}

func newTruth(t *testing.T, r *rig) *truth {
	t.Helper()
	base, err := r.log.State()
	if err != nil {
		t.Fatal(err)
	}
	return &truth{t: t, log: r.log, base: base, grown: make(chan struct{})}
}

// publish publishes singly and in batches, until ctx ends.
func (tr *truth) publish(ctx context.Context) {
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for n := ended + live; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		old := n - live + rand.N(live)
		evs := []events.Event{status(old, events.Busy)}
		switch rand.N(5) {
		case 0:
			evs = []events.Event{gone(n - live), appeared(n)}
		case 1:
			evs = append(evs, all(old, old+rand.N(20), appeared)...)
		case 2:
			evs = []events.Event{events.WatchResumed{Meta: at(n), Why: events.Sleep}}
		}
		stored, err := tr.log.Publish(ctx, evs)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			tr.t.Error(err)
			return
		}
		tr.add(stored)
	}
}

func (tr *truth) add(stored []events.Last) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.stored = append(tr.stored, stored...)
	close(tr.grown)
	tr.grown = make(chan struct{})
}

func (tr *truth) last() uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.base.Seq + uint64(len(tr.stored))
}

// wait waits until the event with the sequence is acknowledged.
func (tr *truth) wait(ctx context.Context, seq uint64) error {
	for {
		tr.mu.Lock()
		grown := tr.grown
		tr.mu.Unlock()
		if tr.last() >= seq {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Second):
			return fmt.Errorf("event %d is not acknowledged", seq)
		}
	}
}

// events are those behind one sequence up to another.
func (tr *truth) events(behind, to uint64) []events.Last {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.stored[behind-tr.base.Seq : to-tr.base.Seq])
}

// view is what was there at a sequence.
func (tr *truth) view(seq uint64) events.View {
	view := maps.Clone(tr.base.View)
	for _, last := range tr.events(tr.base.Seq, seq) {
		view.Apply(last.Seq, last.Event)
	}
	return view
}

// forger has the same key as a subscriber, and aims the answers to its own questions at the subjects of events.
type forger struct {
	t     *testing.T
	nc    *nats.Conn
	heard atomic.Int64
}

func newForger(t *testing.T, r *rig, role string) *forger {
	t.Helper()
	f := &forger{t: t, nc: r.connect(t, role)}
	if _, err := r.connect(t, role).Subscribe("peers.v1."+token+".claude.forged.>", func(*nats.Msg) { f.heard.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *forger) forge(ctx context.Context) {
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		aim := fmt.Sprintf("peers.v1.%s.claude.forged.1-1.gone", token)
		question, ask := "core.DIRECT.GET.PEERS", fmt.Sprintf(`{"seq":%d}`, 1+rand.N(6000))
		switch n % 4 {
		case 0: // a stored event again, on its own subject
			aim = appeared(n % ended).Subject()
			aim = "peers.v1." + token + aim[len("peers.v1.="):]
			ask = fmt.Sprintf(`{"last_by_subj":%q}`, aim)
		case 1:
			question, ask = "watcher.v1."+token+".status", ""
		case 2:
			question, ask = "watcher.v1."+token+".snapshot", "{}"
		}
		if err := f.nc.PublishRequest(question, aim, []byte(ask)); err != nil && ctx.Err() == nil {
			f.t.Error(err)
			return
		}
	}
}
