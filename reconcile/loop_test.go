package reconcile

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

func TestLoopReadsAtTheFirstNotice(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		stop := running(t, l)
		began := time.Now()
		w.set(peer("a", 5))
		w.wake(Place{Harness: events.Claude, PID: 5})
		synctest.Wait()
		if since := time.Since(began); since != 0 {
			t.Errorf("read after %v, want at once", since)
		}
		expect(t, m, "resumed start", "appeared a")
		if err := stop(); !errors.Is(err, errStopped) {
			t.Errorf("Run ended with %v, want the cause", err)
		}
	})
}

func TestLoopSweepsEverySecond(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		var beats int
		l.Beat = func(time.Time) { beats++ }
		stop := running(t, l)
		w.set(peer("a", 5))
		time.Sleep(10*sweepEvery + time.Millisecond)
		synctest.Wait()
		_ = stop()
		if n := w.count(); n != 11 || beats != 11 {
			t.Errorf("%d looks and %d beats in ten seconds, want 11 of each", n, beats)
		}
		expect(t, m, "resumed start", "appeared a")
	})
}

func TestLoopCoalescesOnlyWhileNoticesOutrunReading(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		place := Place{Harness: events.Claude, PID: 5}
		stop := running(t, l)
		w.mu.Lock()
		before := len(w.reads)
		w.during = func(w *world) { w.wake(place) } // each look meets a new notice, for ever
		w.mu.Unlock()
		w.wake(place)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		_ = stop()
		got, most := w.count()-before, burst+int(500*time.Millisecond/tick)+1
		if got < burst || got > most {
			t.Errorf("%d looks in half a second of storm, want %d at once and then one each %v, %d at the most", got, burst, tick, most)
		}
	})
}

func TestLoopLooksAgainWhenAsked(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		place := Place{Harness: events.Claude, PID: 5}
		w.again = []Again{{place, 300 * time.Millisecond}, {place, 50 * time.Millisecond}}
		stop := running(t, l)
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		_ = stop()
		if len(w.reads) != 2 || w.took[1].Sub(w.took[0]) != 50*time.Millisecond {
			t.Fatalf("looks at %v, want the second and last after 50ms", w.took)
		}
		if d := cmp.Diff([]Place{place}, w.reads[1]); d != "" {
			t.Errorf("looked at (-want +got):\n%s", d)
		}
	})
}

func TestLoopReadsAnewAfterAConflict(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		w.set(peer("a", 5))
		stop := running(t, l)
		m.mu.Lock() // another loop of this host has seen b first
		m.store(events.PeerAppeared{Meta: events.Meta{Host: host}, Peer: peer("b", 6)})
		m.mu.Unlock()
		w.set(peer("a", 5), peer("b", 6), peer("c", 7))
		w.wake(Place{Harness: events.Claude, PID: 7})
		synctest.Wait()
		_ = stop()
		expect(t, m, "resumed start", "appeared a", "appeared b", "appeared c")
		if len(w.reads[len(w.reads)-1]) != 0 {
			t.Errorf("the look after the conflict was at %v, want everything", w.reads[len(w.reads)-1])
		}
		if got := l.Stats().Conflicts; got != 1 {
			t.Errorf("%d conflicts counted, want 1", got)
		}
	})
}

func TestLoopEndsWhenTheLogFails(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		full := errors.New("no space left on device")
		w.set(peer("a", 5))
		m.fail = full
		if err := l.Run(t.Context()); !errors.Is(err, full) {
			t.Errorf("Run ended with %v, want %v", err, full)
		}
		m.fail = nil
		next := New(host, m, l.Logger, w)
		stop := running(t, next)
		_ = stop()
		expect(t, m, "resumed start", "appeared a")
	})
}

func TestLoopFindsWhoDiedWhileNobodyWatched(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		seen := events.At(time.Now())
		for _, s := range []events.Peer{peer("a", 5), peer("b", 6)} {
			m.store(events.PeerAppeared{Meta: events.Meta{Host: host, Time: seen}, Peer: s})
		}
		l.Watched = time.Now().Add(time.Minute) // it beat once more before it ended
		time.Sleep(time.Hour)
		w.set(peer("b", 6))
		stop := running(t, l)
		_ = stop()
		expect(t, m, "appeared a", "appeared b", "resumed start", "gone a")
		gone := m.stored[3].Event.(events.PeerGone)
		if want := events.At(l.Watched); !gone.Missed || gone.NotBefore != want {
			t.Errorf("missed %v, not before %v; want missed since %v", gone.Missed, gone.NotBefore, want)
		}
	})
}

func TestLoopClockSetForwardAndBack(t *testing.T) {
	for name, tc := range map[string]struct {
		jump time.Duration
		want []string
	}{
		"forward an hour, as after a sleep": {time.Hour, []string{"resumed start", "appeared a", "resumed sleep", "status a"}},
		"back an hour":                      {-time.Hour, []string{"resumed start", "appeared a", "status a"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
				var mu sync.Mutex
				var offset time.Duration
				l.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Add(offset)
				}
				w.set(peer("a", 5))
				stop := running(t, l)
				mu.Lock()
				offset = tc.jump
				mu.Unlock()
				time.Sleep(3 * sweepEvery)
				w.set(peer("a", 5, busy))
				time.Sleep(3 * sweepEvery)
				synctest.Wait()
				_ = stop()
				expect(t, m, tc.want...)
				for _, l := range m.stored {
					if r, ok := l.Event.(events.WatchResumed); ok && r.BlindFrom > r.BlindTo {
						t.Errorf("blind from %v to %v", r.BlindFrom, r.BlindTo)
					}
				}
			})
		})
	}
}

func TestVigilNoticesAStoppedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v vigil
		v.look(time.Now())
		time.Sleep(time.Minute)
		wall := time.Now().Add(-2 * time.Hour) // set back meanwhile
		got := v.look(wall)
		want := []Blind{{From: wall.Add(-time.Minute), To: wall, Why: events.Sleep}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("blind (-want +got):\n%s", d)
		}
		time.Sleep(sweepEvery)
		if got := v.look(wall.Add(sweepEvery)); len(got) != 0 {
			t.Errorf("blind after a common second: %v", got)
		}
	})
}

func TestLoopRepeatsWhomTheLogMayForget(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		w.set(peer("a", 5))
		stop := running(t, l)
		time.Sleep(presentEvery + 2*presentCheck)
		synctest.Wait()
		expect(t, m, "resumed start", "appeared a", "present a")
		if err := stop(); !errors.Is(err, errStopped) {
			t.Error(err)
		}
	})
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		l.Older = func(context.Context) (uint64, error) { return 3, nil }
		w.set(peer("a", 5))
		stop := running(t, l)
		w.set(peer("a", 5), peer("b", 6))
		time.Sleep(2 * presentCheck)
		synctest.Wait()
		expect(t, m, "resumed start", "appeared a", "present a", "appeared b")
		_ = stop()
	})
}

func TestLoopDoesNotOfferAgainWhatWasRefused(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		offered := 0
		m.refuse = func(e events.Event) bool {
			p, _ := events.PeerOf(e)
			if p.Session == "a" && p.Status == events.Idle {
				offered++
				return true
			}
			return false
		}
		w.set(peer("a", 5), peer("b", 6))
		stop := running(t, l)
		time.Sleep(5 * sweepEvery)
		w.set(peer("a", 5, busy), peer("b", 6))
		time.Sleep(2 * sweepEvery)
		synctest.Wait()
		_ = stop()
		expect(t, m, "resumed start", "appeared b", "appeared a")
		if offered != 1 || l.Stats().Refused != 1 {
			t.Errorf("offered %d times, counted %d; want once", offered, l.Stats().Refused)
		}
	})
}

func TestLoopTellsEachEventAndWhatWasThere(t *testing.T) {
	bubble(t, func(t *testing.T, l *Loop, w *world, m *memory) {
		var there events.View
		var told []uint64
		l.Ready = func(v events.View) { there = maps.Clone(v) }
		l.Each = func(last events.Last) { told = append(told, last.Seq) }
		w.set(peer("a", 5))
		stop := running(t, l)
		w.set()
		time.Sleep(2 * sweepEvery)
		synctest.Wait()
		_ = stop()
		if len(there) != 1 {
			t.Errorf("%d peers were there, want 1", len(there))
		}
		if d := cmp.Diff([]uint64{1, 2, 3}, told); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
	})
}
