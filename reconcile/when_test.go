package reconcile

import (
	"testing"
	"testing/synctest"
	"time"

	"peerbus/events"
)

// A look takes a while, and what it sees at its end may have come to be since its beginning.
func TestLoopSaysOfNothingThatItWasSeenBeforeItWas(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		const long = 70 * time.Millisecond
		w.set(peer("a", 5))
		w.during = func(*world) { time.Sleep(long) }
		begun := time.Now()
		stop := running(t, l)
		time.Sleep(long)
		synctest.Wait()
		_ = stop()
		expect(t, m, "resumed start", "appeared a")
		if at, ended := m.stored[1].Event.Head().Time, events.At(begun.Add(long)); at < ended {
			t.Errorf("seen at %v, where the look ended at %v", at, ended)
		}
	})
}

// An event says that its peer was looked at, and nothing of the others.
func TestLoopWasBlindSinceEverythingWasLastSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		watched bool
		want    time.Duration // before the start
	}{
		"not since the last event":                          {true, 10*time.Second + 800*time.Millisecond},
		"since the last event, where nothing else is known": {false, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
				begun := time.Now()
				if tc.watched {
					l.Watched = begun
				}
				time.Sleep(800 * time.Millisecond)
				for _, s := range []events.Peer{peer("a", 5), peer("b", 6)} {
					m.store(events.PeerAppeared{Meta: events.Meta{Host: host, Time: events.At(time.Now())}, Peer: s})
				}
				time.Sleep(10 * time.Second)
				w.set(peer("b", 6))
				want := events.At(time.Now().Add(-tc.want))
				stop := running(t, l)
				_ = stop()
				expect(t, m, "appeared a", "appeared b", "resumed start", "gone a")
				resumed := m.stored[2].Event.(events.WatchResumed)
				gone := m.stored[3].Event.(events.PeerGone)
				if resumed.BlindFrom != want || gone.NotBefore != want {
					t.Errorf("blind from %v, gone not before %v; want %v", resumed.BlindFrom, gone.NotBefore, want)
				}
			})
		})
	}
}
