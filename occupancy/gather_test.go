package occupancy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"peerbus/events"
	"peerbus/occupancy"
)

// limit is when the service gives up on a question.
const limit = 2 * time.Second

func nobody(context.Context, string) occupancy.Found { return occupancy.Found{Read: true} }

func by(look occupancy.Look) map[string]occupancy.Look {
	return map[string]occupancy.Look{events.Claude: look}
}

// counted is a look that finds nobody, and how often it was asked for.
func counted() (occupancy.Look, *atomic.Int64) {
	n := new(atomic.Int64)
	return func(context.Context) (occupancy.About, error) {
		n.Add(1)
		return nobody, nil
	}, n
}

func TestWrongQuestionsTouchNothing(t *testing.T) {
	look, looks := counted()
	g := occupancy.NewGatherer(by(look), nil, false)
	defer g.Close()
	for q, want := range map[occupancy.Question]occupancy.Reason{
		{Harness: events.Claude, Thread: thread[:8]}:              occupancy.InvalidThreadID,
		{Harness: events.Claude, Thread: "../../etc/passwd"}:      occupancy.InvalidThreadID,
		{Harness: events.Claude, Thread: strings.ToUpper(thread)}: occupancy.InvalidThreadID,
		{Harness: events.Claude, Thread: ""}:                      occupancy.InvalidThreadID,
		{Harness: "../claude", Thread: thread}:                    occupancy.UnsupportedProvider,
		{Harness: events.Codex, Thread: thread}:                   occupancy.DetectorUnavailable,
		{Harness: events.Codex, Thread: "x"}:                      occupancy.InvalidThreadID,
	} {
		if v := g.Ask(t.Context(), q); v.Attachable || v.Reason != want {
			t.Errorf("%+v: attachable %t, reason %q, want %q", q, v.Attachable, v.Reason, want)
		}
	}
	if n := looks.Load(); n != 0 {
		t.Errorf("%d looks", n)
	}
	if v := g.Ask(t.Context(), question); !v.Attachable || looks.Load() != 1 {
		t.Errorf("the good question: %+v after %d looks", v, looks.Load())
	}
}

func TestDisabledProbesNothing(t *testing.T) {
	look, looks := counted()
	g := occupancy.NewGatherer(by(look), nil, true)
	defer g.Close()
	if v := g.Ask(t.Context(), question); v.Attachable || v.Reason != occupancy.AttachDisabled {
		t.Errorf("verdict %+v", v)
	}
	if n := looks.Load(); n != 0 {
		t.Errorf("%d looks", n)
	}
}

// TestProbesThatFail has every probe, the look, what it says of a thread, and the ledger, panic, fail and hang. Each
// answer comes in time, and the next question is answered as if nothing had been.
func TestProbesThatFail(t *testing.T) {
	held := func(context.Context, string) occupancy.Found {
		return occupancy.Found{Read: true, Owners: []occupancy.Owner{owner(11, "5")}}
	}
	var release chan struct{}
	bad := map[string]func(){
		"panics": func() { panic("a probe") },
		"hangs":  func() { <-release },
	}
	for name, misbehave := range bad {
		for where, build := range map[string]func(first func()) (occupancy.Look, occupancy.Ledger){
			"the look": func(first func()) (occupancy.Look, occupancy.Ledger) {
				return func(context.Context) (occupancy.About, error) { first(); return held, nil }, nil
			},
			"the thread": func(first func()) (occupancy.Look, occupancy.Ledger) {
				about := func(ctx context.Context, thread string) occupancy.Found { first(); return held(ctx, thread) }
				return func(context.Context) (occupancy.About, error) { return about, nil }, nil
			},
			"the ledger": func(first func()) (occupancy.Look, occupancy.Ledger) {
				return func(context.Context) (occupancy.About, error) { return held, nil },
					func(context.Context) ([]occupancy.Process, error) { first(); return nil, nil }
			},
		} {
			t.Run(where+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release = make(chan struct{})
					var calls atomic.Int64
					look, ledger := build(func() {
						if calls.Add(1) == 1 {
							misbehave()
						}
					})
					g := occupancy.NewGatherer(by(look), ledger, false)
					asked := time.Now()
					v := g.Ask(t.Context(), question)
					if took := time.Since(asked); v.Reason != occupancy.ProbeFailed || v.Attachable || took >= limit {
						t.Errorf("after %s: %+v", took, v)
					}
					if v := g.Ask(t.Context(), question); v.Reason != occupancy.LiveProcess {
						t.Errorf("the next question: %+v", v)
					}
					close(release)
					g.Close()
				})
			})
		}
	}
}

func TestLookThatAnswersNothing(t *testing.T) {
	for name, look := range map[string]occupancy.Look{
		"an error": func(context.Context) (occupancy.About, error) { return nobody, errors.New("too many open files") },
		"nothing":  func(context.Context) (occupancy.About, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := occupancy.NewGatherer(by(look), nil, false)
			defer g.Close()
			if v := g.Ask(t.Context(), question); v.Reason != occupancy.ProbeFailed {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

func TestLedgerThatFailsMakesNobodyOurs(t *testing.T) {
	look := func(context.Context) (occupancy.About, error) {
		return func(context.Context, string) occupancy.Found {
			return occupancy.Found{Read: true, Owners: []occupancy.Owner{owner(11, "5")}}
		}, nil
	}
	g := occupancy.NewGatherer(by(look), func(context.Context) ([]occupancy.Process, error) {
		return nil, errors.New("permission denied")
	}, false)
	defer g.Close()
	if v := g.Ask(t.Context(), question); v.Reason != occupancy.LiveProcess || v.Owners[0].SelfOwned {
		t.Errorf("verdict %+v", v)
	}
}

// TestHungLookHoldsUpNobodyForLong has one look hang for good: who asks while it hangs is answered in time, and who
// asks once it is given up gets a look of its own.
func TestHungLookHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var looks atomic.Int64
		g := occupancy.NewGatherer(by(func(context.Context) (occupancy.About, error) {
			if looks.Add(1) == 1 {
				<-release
			}
			return nobody, nil
		}), nil, false)
		var wg sync.WaitGroup
		wg.Go(func() {
			if v := g.Ask(t.Context(), question); v.Reason != occupancy.ProbeFailed {
				t.Errorf("the first: %+v", v)
			}
		})
		synctest.Wait()
		time.Sleep(time.Second)
		asked := time.Now()
		if v := g.Ask(t.Context(), question); !v.Attachable {
			t.Errorf("behind it: %+v", v)
		}
		if took := time.Since(asked); took > time.Second {
			t.Errorf("it took %s", took)
		}
		wg.Wait()
		if v := g.Ask(t.Context(), question); !v.Attachable {
			t.Errorf("after it: %+v", v)
		}
		close(release)
		g.Close()
	})
}

// TestTooManyThatHang has every look hang for good: the goroutines that wait for the kernel do not grow without bound.
func TestTooManyThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hanging atomic.Int64
		g := occupancy.NewGatherer(by(func(context.Context) (occupancy.About, error) {
			return func(context.Context, string) occupancy.Found {
				hanging.Add(1)
				<-release
				return occupancy.Found{}
			}, nil
		}), nil, false)
		for range 10 {
			var wg sync.WaitGroup
			for range 60 {
				wg.Go(func() {
					if v := g.Ask(t.Context(), question); v.Reason != occupancy.ProbeFailed {
						t.Errorf("verdict %+v", v)
					}
				})
			}
			wg.Wait()
		}
		if n := hanging.Load(); n > 128 {
			t.Errorf("%d hang", n)
		}
		asked := time.Now()
		g.Close()
		if took := time.Since(asked); took > limit {
			t.Errorf("closing took %s", took)
		}
		close(release)
	})
}

// TestThoseWhoWaitShareOneLook has many ask while a look is under way or rests: they get one look, and one that began
// after the last of them came.
func TestThoseWhoWaitShareOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 100 * time.Millisecond
		var looks atomic.Int64
		g := occupancy.NewGatherer(by(func(context.Context) (occupancy.About, error) {
			looks.Add(1)
			time.Sleep(takes)
			return nobody, nil
		}), nil, false)
		var wg sync.WaitGroup
		for range 75 {
			wg.Go(func() {
				asked := events.At(time.Now())
				if v := g.Ask(t.Context(), question); !v.Attachable || v.Time < asked {
					t.Errorf("asked at %v: %+v", asked, v)
				}
			})
			synctest.Wait()
			time.Sleep(takes / 25)
		}
		wg.Wait()
		if n := looks.Load(); n != 3 {
			t.Errorf("%d looks, want one, one for those who came until it had rested, and one for the others", n)
		}
		g.Close()
	})
}

// TestOneWhoLeavesTakesNobodyWithHim has the one whose question began the look give up.
func TestOneWhoLeavesTakesNobodyWithHim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := occupancy.NewGatherer(by(func(ctx context.Context) (occupancy.About, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(100 * time.Millisecond):
				return nobody, nil
			}
		}), nil, false)
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if v := g.Ask(leaving, question); v.Reason != occupancy.ProbeFailed {
				t.Errorf("who left: %+v", v)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if v := g.Ask(t.Context(), question); !v.Attachable {
				t.Errorf("who stayed: %+v", v)
			}
		})
		synctest.Wait()
		leave()
		wg.Wait()
		g.Close()
	})
}
