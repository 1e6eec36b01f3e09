package bus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/reconcile"
)

var _ reconcile.Log = (*bus.Log)(nil)

// What is folded is what was applied while publishing, and what the log itself says: 2,000 random events.
func TestFoldIsTheViewAppliedWhilePublishing(t *testing.T) {
	r := start(t)
	view, published := make(events.View), 0
	rapid.Check(t, func(rt *rapid.T) {
		evs := rapid.SliceOfN(randomEvent, 1, 39).Draw(rt, "events")
		for _, last := range publish(t, r.log, evs...) {
			view.Apply(last.Seq, last.Event)
		}
		published += len(evs)
		for name, got := range map[string]events.View{"another log folds": fold(t, r.newLog()), "the log says": stateOf(t, r.log).View} {
			if d := cmp.Diff(view, got); d != "" {
				rt.Fatalf("%s (-applied +got):\n%s", name, d)
			}
		}
	})
	if got := r.log.Counts().Published; got != uint64(published) {
		t.Errorf("%d counted, %d published", got, published)
	}
	t.Logf("%d events, %d peers in the end", published, len(view))
}

// randomEvent is about one of 60 peers.
var randomEvent = rapid.Custom(func(t *rapid.T) events.Event {
	n := rapid.IntRange(0, 59).Draw(t, "peer")
	p := peer(n)
	p.Status = rapid.SampledFrom([]events.Status{events.Busy, events.Idle, events.Waiting}).Draw(t, "status")
	p.Name = rapid.StringN(0, 20, 60).Draw(t, "name")
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		return events.PeerAppeared{Meta: at(n), Peer: p}
	case 1:
		return events.StatusChanged{Meta: at(n), Peer: p}
	case 2:
		return events.PeerChanged{Meta: at(n), Peer: p}
	case 3:
		return events.PeerPresent{Meta: at(n), Peer: p}
	case 4:
		return events.PeerGone{Meta: at(n), Peer: p, Reason: events.Died}
	}
	return events.WatchResumed{Meta: at(n), Why: events.Sleep}
})

func stateOf(t *testing.T, l *bus.Log) bus.LogState {
	t.Helper()
	s, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFoldPassesOverWhatIsNoEvent(t *testing.T) {
	r := start(t)
	stored := publish(t, r.log, appeared(1), appeared(2))
	strange := "ingest.peers.v1.laptop=2Elocal.claude.s.1-1."
	for subject, data := range map[string]string{
		strange + "appeared": `{"type":"PeerAppeared","host":"laptop.local"}`,
		strange + "status":   "no JSON",
		strange + "new":      `{"type":"PeerPraised","host":"laptop.local","peer":{}}`,
	} {
		if _, err := r.js.Publish(t.Context(), subject, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	l := r.newLog()
	view, last, err := l.Fold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(stateOf(t, r.log).View, view); d != "" {
		t.Errorf("view (-want +got):\n%s", d)
	}
	if want := stored[1].Event.Head().Time.Std(); !last.Equal(want) {
		t.Errorf("the last event was at %s, want %s", last, want)
	}
	if got := l.Counts().Skipped; got != 3 {
		t.Errorf("%d skipped, want 3", got)
	}
	if got := seqs(publish(t, l, appeared(3))); got[0] != 6 {
		t.Errorf("stored as %v, want 6", got)
	}
}

// What the caller of Fold and State does with a view is its own affair.
func TestViewsAreTheCallers(t *testing.T) {
	r := start(t)
	publish(t, r.log, appeared(1))
	clear(fold(t, r.log))
	clear(stateOf(t, r.log).View)
	if got := len(stateOf(t, r.log).View); got != 1 {
		t.Errorf("%d peers, want 1", got)
	}
}

func TestLogUnavailable(t *testing.T) {
	r := start(t)
	if _, err := r.newLog().Publish(t.Context(), []events.Event{appeared(1)}); !errors.Is(err, bus.ErrNotFolded) {
		t.Errorf("publish before the fold: %v", err)
	}
	if _, err := r.newLog().State(); !errors.Is(err, bus.ErrNotFolded) {
		t.Errorf("state before the fold: %v", err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := r.log.Publish(over, []events.Event{appeared(1)}); !errors.Is(err, enough) || errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("publish with an ended context: %v", err)
	}
	if _, _, err := r.log.Fold(over); !errors.Is(err, enough) || errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("fold with an ended context: %v", err)
	}
	if err := r.js.DeleteStream(t.Context(), bus.Peers); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"publish":   func() error { _, err := r.log.Publish(t.Context(), []events.Event{appeared(1)}); return err },
		"batch":     func() error { _, err := r.log.Publish(t.Context(), appearedAll(1, 5)); return err },
		"fold":      func() error { _, _, err := r.log.Fold(t.Context()); return err },
		"retention": func() error { _, err := r.log.Retention(t.Context()); return err },
	} {
		if err := try(); !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("%s without the stream: %v", name, err)
		}
	}
}

func TestRetention(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 100)...)
	s, err := r.js.Stream(t.Context(), bus.Peers)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxMsgs = 40
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	got, err := r.log.Retention(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.First != 61 || got.Last != 100 || got.MaxBytes != 128<<20 || got.Bytes == 0 || got.Bytes > 40<<10 {
		t.Errorf("retention %+v", got)
	}
	if view := fold(t, r.newLog()); len(view) != 40 {
		t.Errorf("%d peers folded, want the 40 that are retained", len(view))
	}
}

// A log whose messages have all grown too old has a place to go on from.
func TestFoldOfAnEmptiedLog(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 10)...)
	s, err := r.js.Stream(t.Context(), bus.Peers)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxAge = 100 * time.Millisecond
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	within(t, func() bool {
		got, err := r.log.Retention(t.Context())
		return err == nil && got.Last == 10 && got.First == 11
	})
	l := r.newLog()
	if view := fold(t, l); len(view) != 0 {
		t.Errorf("folded %v", view.IDs())
	}
	if got := stateOf(t, l).Seq; got != 10 {
		t.Errorf("the log stands at %d, want 10", got)
	}
	if got := seqs(publish(t, l, appeared(1))); got[0] != 11 {
		t.Errorf("stored as %v, want 11", got)
	}
}

func BenchmarkFold(b *testing.B) {
	r := start(b)
	for n := range 3 {
		publish(b, r.log, appearedAll(n*1000, (n+1)*1000)...)
		var ends []events.Event
		for p := n * 1000; p < (n+1)*1000; p++ {
			ends = append(ends, gone(p))
		}
		publish(b, r.log, ends...)
	}
	for b.Loop() {
		fold(b, r.newLog())
	}
}
