package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

// world is a harness over peers that the test sets.
type world struct {
	mu     sync.Mutex
	peers  map[int]events.Peer
	reads  [][]Place
	took   []time.Time
	during func(w *world) // called in each read, as a notice that comes meanwhile would be
	again  []Again
	wake   func(Place)
}

func (w *world) Name() string { return events.Claude }

func (w *world) Read(_ context.Context, of []Place, known []events.Peer) Snapshot {
	w.mu.Lock()
	w.reads, w.took = append(w.reads, of), append(w.took, time.Now())
	s := Snapshot{Gone: make(map[events.ID]Going), Again: w.again}
	w.again = nil
	for _, p := range known {
		if now, ok := w.peers[p.PID]; !ok || now.ID("") != p.ID("") {
			s.Gone[p.ID("")] = Going{Reason: events.Exited}
		}
	}
	for _, p := range w.peers {
		if len(of) == 0 || holdsAny(of, p) {
			s.Peers = append(s.Peers, p)
		}
	}
	during := w.during
	w.mu.Unlock()
	if during != nil {
		during(w)
	}
	return s
}

func (w *world) Watch(ctx context.Context, wake func(Place)) error {
	w.mu.Lock()
	w.wake = wake
	w.mu.Unlock()
	<-ctx.Done()
	return context.Cause(ctx)
}

func (w *world) Explain(context.Context, events.Peer) Explanation { return Explanation{} }
func (w *world) Facts() []Fact                                    { return nil }

func (w *world) set(peers ...events.Peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers = make(map[int]events.Peer)
	for _, p := range peers {
		w.peers[p.PID] = p
	}
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.reads)
}

// memory is a log in memory, for the loop's time to run in a bubble.
type memory struct {
	mu     sync.Mutex
	stored []events.Last
	tail   uint64 // what the loop has folded or published to
	fail   error
	refuse func(events.Event) bool
	folds  int
	rival  func()      // called before each publish
	first  int         // how many of stored are forgotten
	view   events.View // what the loop was told is there
}

func (m *memory) Fold(context.Context) (events.View, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folds++
	view := make(events.View)
	maps.Copy(view, m.view)
	var last time.Time
	for _, l := range m.stored[m.first:] {
		view.Apply(l.Seq, l.Event)
		last = l.Event.Head().Time.Std()
	}
	m.tail, m.view = uint64(len(m.stored)), maps.Clone(view)
	return view, last, nil
}

func (m *memory) Publish(_ context.Context, evs []events.Event) ([]events.Last, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	if m.rival != nil {
		m.rival()
	}
	if m.tail != uint64(len(m.stored)) {
		return nil, ErrConflict
	}
	var out []events.Last
	for _, e := range evs {
		if m.refuse != nil && m.refuse(e) {
			continue
		}
		l := m.store(e)
		m.view.Apply(l.Seq, l.Event)
		out = append(out, l)
	}
	m.tail = uint64(len(m.stored))
	return out, nil
}

func (m *memory) store(e events.Event) events.Last {
	l := events.Last{Seq: uint64(len(m.stored) + 1), Event: e}
	m.stored = append(m.stored, l)
	return l
}

func (m *memory) types() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, l := range m.stored {
		switch e := l.Event.(type) {
		case events.PeerAppeared:
			out = append(out, "appeared "+e.Peer.Session)
		case events.StatusChanged:
			out = append(out, "status "+e.Peer.Session)
		case events.PeerChanged:
			out = append(out, "changed "+e.Peer.Session)
		case events.PeerPresent:
			out = append(out, "present "+e.Peer.Session)
		case events.PeerGone:
			out = append(out, "gone "+e.Peer.Session)
		case events.WatchResumed:
			out = append(out, "resumed "+string(e.Why))
		}
	}
	return out
}

// running starts a loop in the bubble and ends it with the test.
func running(t *testing.T, l *Loop) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	synctest.Wait()
	return func() error {
		cancel(errStopped)
		return <-done
	}
}

var errStopped = errors.New("stopped by the test")

func bubble(t *testing.T, f func(t *testing.T, l *Loop, w *world, m *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, m := &world{}, &memory{}
		w.set()
		f(t, New(host, m, slog.New(slog.DiscardHandler), w), w, m)
	})
}

func expect(t *testing.T, m *memory, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, m.types()); d != "" {
		t.Errorf("the log (-want +got):\n%s", d)
	}
}
