package bus_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/reconcile"
)

// people is a harness over peers that the test sets.
type people struct {
	mu   sync.Mutex
	here []events.Peer
}

func (p *people) set(here ...events.Peer) {
	p.mu.Lock()
	p.here = here
	p.mu.Unlock()
}

func (p *people) Name() string { return events.Claude }

func (p *people) Read(context.Context, []reconcile.Place, []events.Peer) reconcile.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return reconcile.Snapshot{Peers: p.here}
}

func (p *people) Watch(ctx context.Context, _ func(reconcile.Place)) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func (p *people) Explain(context.Context, events.Peer) reconcile.Explanation {
	return reconcile.Explanation{}
}
func (p *people) Facts() []reconcile.Fact { return nil }

// waking is a loop whose clock can jump, as over a sleep.
type waking struct {
	*reconcile.Loop
	here *people
	told chan events.Last

	mu    sync.Mutex
	slept time.Duration
}

// wake starts a loop that runs until the test ends, over one peer.
func (r *rig) wake(t *testing.T) *waking {
	t.Helper()
	w := &waking{here: new(people), told: make(chan events.Last, 100)}
	w.here.set(peer(1))
	w.Loop = reconcile.New(host, r.log, quiet, w.here)
	w.Now = func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return time.Now().Add(w.slept)
	}
	w.Each = func(last events.Last) { w.told <- last }
	up, done := make(chan struct{}), make(chan error, 1)
	w.Ready = func(events.View) { close(up) }
	go func() { done <- w.Run(t.Context()) }()
	t.Cleanup(func() { // by now the test's context has ended
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the loop ended with %v", err)
		}
	})
	<-up
	return w
}

func (w *waking) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slept += d
}

// untilRepeated are the sessions that appear until one is repeated, which is answered too.
func (w *waking) untilRepeated(t *testing.T) (appeared []string, repeated string) {
	t.Helper()
	for deadline := time.After(10 * time.Second); ; {
		select {
		case last := <-w.told:
			switch e := last.Event.(type) {
			case events.PeerAppeared:
				appeared = append(appeared, e.Peer.Session)
			case events.PeerPresent:
				return appeared, e.Peer.Session
			}
		case <-deadline:
			t.Fatalf("%v have appeared and nobody was repeated", appeared)
		}
	}
}

// A machine that slept for longer than the log retains wakes up with its windows open: nobody has gone, and nobody but
// a rival is one.
func TestALoopOverAForgottenLog(t *testing.T) {
	for name, rivals := range map[string]uint64{"alone": 0, "beside a rival": 1} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			w := r.wake(t)
			r.forget(t)
			if rivals > 0 {
				rival := r.newLog()
				fold(t, rival)
				publish(t, rival, appeared(3))
			}
			w.here.set(peer(1), peer(2), peer(3))
			w.sleep(8 * 24 * time.Hour)
			want := []string{peer(1).Session, peer(2).Session} // the first before the sleep
			if rivals == 0 {
				want = append(want, peer(3).Session)
			}
			got, repeated := w.untilRepeated(t)
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" || repeated != peer(1).Session {
				t.Errorf("%s is repeated, appeared (-want +got):\n%s", repeated, d)
			}
			if ours, logs := w.Stats().Conflicts, r.log.Counts().Conflicts; ours != rivals || logs != rivals {
				t.Errorf("%d and %d conflicts counted, want %d", ours, logs, rivals)
			}
		})
	}
}
