package reconcile

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"peerbus/events"
)

// Peers whom the log has forgotten have not gone: they do not appear again, and are repeated.
func TestLoopKeepsWhomTheLogForgot(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		w.set(peer("a", 5))
		stop := running(t, l)
		m.mu.Lock()
		m.first = len(m.stored)
		m.store(events.PeerAppeared{Meta: events.Meta{Host: host}, Peer: peer("b", 6)}) // by another loop
		m.mu.Unlock()
		w.set(peer("a", 5), peer("b", 6), peer("c", 7))
		w.wake(Place{Harness: events.Claude, PID: 7})
		synctest.Wait()
		expect(t, m, "resumed start", "appeared a", "appeared b", "appeared c")
		time.Sleep(presentEvery + 2*presentCheck)
		synctest.Wait()
		if got := m.types(); len(got) < 5 || !slices.Contains(got[4:], "present a") {
			t.Errorf("the log has %v, want a repeated", got)
		}
		w.set(peer("b", 6), peer("c", 7))
		time.Sleep(2 * sweepEvery)
		synctest.Wait()
		if got := m.types(); got[len(got)-1] != "gone a" {
			t.Errorf("the log ends with %q, want a gone", got[len(got)-1])
		}
		_ = stop()
		if got := l.Stats().Conflicts; got != 1 {
			t.Errorf("%d conflicts counted, want the other loop's", got)
		}
	})
}

// A rival that writes all the time is not outrun.
func TestLoopPausesBetweenConflicts(t *testing.T) {
	const conflicts = 50
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		stop := running(t, l)
		left := conflicts
		m.mu.Lock()
		m.rival = func() {
			if left > 0 {
				left--
				m.store(events.WatchResumed{Meta: events.Meta{Host: host}, Why: events.Sleep})
			}
		}
		m.mu.Unlock()
		began := time.Now()
		w.set(peer("a", 5))
		w.wake(Place{Harness: events.Claude, PID: 5})
		for !slices.Contains(m.types(), "appeared a") {
			time.Sleep(tick / 2)
		}
		if took := time.Since(began); took < (conflicts-1)*tick || took > (conflicts+1)*tick {
			t.Errorf("stored %v after the first of %d conflicts, want one each %v", took, conflicts, tick)
		}
		_ = stop()
	})
}

func TestLoopForgetsWhatWasRefusedOfWhoLeft(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		m.refuse = func(e events.Event) bool {
			p, ok := events.PeerOf(e)
			return ok && p.Session != "b"
		}
		w.set(peer("a", 5), peer("b", 6))
		stop := running(t, l)
		time.Sleep(2 * sweepEvery)
		w.set(peer("b", 6), peer("c", 7))
		time.Sleep(2 * sweepEvery)
		synctest.Wait()
		_ = stop()
		if _, still := l.refused[peer("c", 7).ID("")]; len(l.refused) != 1 || !still {
			t.Errorf("refused are %v, want c, who is there, alone", l.refused)
		}
	})
}
