package bus_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/bus"
)

// forget makes the log forget all that it has, by age.
func (r *rig) forget(t *testing.T) {
	t.Helper()
	r.maxAge(t, 100*time.Millisecond)
	within(t, func() bool {
		got, err := r.log.Retention(t.Context())
		return err == nil && got.Last > 0 && got.First == got.Last+1
	})
	r.maxAge(t, 7*24*time.Hour)
}

func (r *rig) maxAge(t *testing.T, d time.Duration) {
	t.Helper()
	s, err := r.js.Stream(t.Context(), bus.Peers)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxAge = d
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// That the log has forgotten the last event is nobody's doing.
func TestAForgottenFenceIsNoConflict(t *testing.T) {
	for name, evs := range map[string][]events.Event{"one": {appeared(20)}, "a batch": appearedAll(20, 25)} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			publish(t, r.log, appearedAll(0, 10)...)
			r.forget(t)
			stored := publish(t, r.log, evs...)
			if len(stored) != len(evs) || stored[0].Seq != 11 {
				t.Errorf("stored as %v, want %d from 11 on", seqs(stored), len(evs))
			}
			publish(t, r.log, gone(20)) // the fence fits again
			if got := r.log.Counts().Conflicts; got != 0 {
				t.Errorf("%d conflicts counted, want none", got)
			}
		})
	}
}

// A rival who has written behind a forgotten fence is one all the same, and what it says counts.
func TestAFoldKeepsWhomTheLogForgot(t *testing.T) {
	r := start(t)
	publish(t, r.log, appeared(1), appeared(2), appeared(3))
	before := stateOf(t, r.log).View
	r.forget(t)
	rival := r.newLog()
	if view := fold(t, rival); len(view) != 0 {
		t.Errorf("whoever starts with a forgotten log has %v", view.IDs())
	}
	theirs := publish(t, rival, appeared(4), gone(2))
	if _, err := r.log.Publish(t.Context(), []events.Event{appeared(5)}); err == nil {
		t.Error("published over the rival's events")
	}
	if got := r.log.Counts().Conflicts; got != 1 {
		t.Errorf("%d conflicts counted, want the rival's", got)
	}
	want := before
	for _, last := range theirs {
		want.Apply(last.Seq, last.Event)
	}
	if d := cmp.Diff(want, fold(t, r.log)); d != "" {
		t.Errorf("folded (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, stateOf(t, r.log).View); d != "" {
		t.Errorf("the log says (-want +got):\n%s", d)
	}
}

// Another stream of the same name is another history, of which nothing is known.
func TestAFoldOfAnotherStreamKeepsNobody(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 10)...)
	if err := r.js.DeleteStream(t.Context(), bus.Peers); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.EnsureStreams(t.Context(), r.js, host); err != nil {
		t.Fatal(err)
	}
	if view := fold(t, r.log); len(view) != 0 {
		t.Errorf("folded %v", view.IDs())
	}
}
