package proc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errStop = errors.New("the test is over")

// run runs d until the test ends, and hands on whom it tells of.
func run(t testing.TB, d *Deaths) chan Identity {
	t.Helper()
	told := make(chan Identity, 10_000)
	start(t, d, func(id Identity) { told <- id })
	return told
}

// start runs d with dead until the test ends, or until the function that it returns was called.
func start(t testing.TB, d *Deaths, dead func(Identity)) (stop func()) {
	t.Helper()
	// t.Context ends before the cleanup that must see the cause.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, dead) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel(errStop)
		if err := <-ended; !errors.Is(err, errStop) {
			t.Errorf("Run returned %v, want the cause %v", err, errStop)
		}
	}
	t.Cleanup(stop)
	return stop
}

// next is who is told of next, or a failure.
func next(t testing.TB, told <-chan Identity) Identity {
	t.Helper()
	select {
	case id := <-told:
		return id
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was told of")
		return Identity{}
	}
}

// only fails when anybody else than want was told, or somebody twice. It ends with a death that is told of after all
// others.
func only(t testing.TB, d *Deaths, told chan Identity, want ...Identity) {
	t.Helper()
	last := waiter(t)
	if v := d.Watch(last.id); v != Alive {
		t.Fatalf("watching the last: %v", v)
	}
	left := map[Identity]int{last.id: 1}
	for _, id := range want {
		left[id]++
	}
	last.kill(t)
	for len(left) > 0 {
		id := next(t, told)
		if left[id]--; left[id] < 0 {
			t.Fatalf("told of %v, and waiting for %v", id, left)
		} else if left[id] == 0 {
			delete(left, id)
		}
	}
	if len(told) > 0 {
		t.Fatalf("told of %v as well", <-told)
	}
}

func TestDeathIsToldOnce(t *testing.T) {
	d := newDeaths(t)
	told := run(t, d)
	c, survivor := waiter(t), waiter(t)
	for range 3 {
		for _, id := range []Identity{c.id, survivor.id} {
			if v := d.Watch(id); v != Alive {
				t.Fatalf("Watch(%v) = %v", id, v)
			}
		}
	}
	c.kill(t)
	only(t, d, told, c.id)
	if v := d.Watch(c.id); v != Dead {
		t.Errorf("watching the dead: %v", v)
	}
	if watched, _ := d.Counts(); watched != 1 {
		t.Errorf("%d are watched, want the survivor", watched)
	}
}

func TestAnotherStartIsReplaced(t *testing.T) {
	d := newDeaths(t)
	c := waiter(t)
	if v := d.Watch(Identity{PID: c.id.PID, Start: c.id.Start + "1"}); v != Replaced {
		t.Errorf("watching its forerunner: %v, want replaced", v)
	}
	if watched, _ := d.Counts(); watched != 0 {
		t.Errorf("%d are watched, want none", watched)
	}
	start(t, d, func(Identity) {})
}

func TestWatchBeforeRun(t *testing.T) {
	d := newDeaths(t)
	before, during := waiter(t), waiter(t)
	for _, c := range []*child{before, during} {
		if v := d.Watch(c.id); v != Alive {
			t.Fatalf("Watch(%v) = %v", c.id, v)
		}
	}
	before.kill(t)
	told := run(t, d)
	during.kill(t)
	only(t, d, told, before.id, during.id)
}

func TestForgottenIsNotTold(t *testing.T) {
	d := newDeaths(t)
	told := run(t, d)
	forgotten, again := waiter(t), waiter(t)
	for _, c := range []*child{forgotten, again} {
		d.Watch(c.id)
		d.Forget(c.id)
		d.Forget(c.id)
	}
	d.Watch(again.id)
	forgotten.kill(t)
	again.kill(t)
	only(t, d, told, again.id)
}

// One process may be watched under two identities, when its start was not known at first.
func TestTwoIdentitiesOfOneProcess(t *testing.T) {
	d := newDeaths(t)
	told := run(t, d)
	c := waiter(t)
	bare := Identity{PID: c.id.PID, Start: Unread}
	for _, id := range []Identity{c.id, bare} {
		if v := d.Watch(id); v != Alive {
			t.Fatalf("Watch(%v) = %v", id, v)
		}
	}
	c.kill(t)
	only(t, d, told, c.id, bare)
}

func TestNoticeMayWatchAndForget(t *testing.T) {
	d := newDeaths(t)
	first, second, third := waiter(t), waiter(t), waiter(t)
	told := make(chan Identity, 10)
	start(t, d, func(id Identity) {
		if id == first.id {
			d.Watch(second.id)
			d.Forget(third.id)
			d.Counts()
		}
		told <- id
	})
	d.Watch(first.id)
	d.Watch(third.id)
	first.kill(t)
	eventually(t, "the second is watched alone", func() bool { n, _ := d.Counts(); return n == 1 })
	third.kill(t)
	second.kill(t)
	only(t, d, told, first.id, second.id)
}

func TestAfterRunWatchOnlyAnswers(t *testing.T) {
	d := newDeaths(t)
	stop := start(t, d, func(id Identity) { t.Errorf("told of %v", id) })
	c := waiter(t)
	d.Watch(c.id)
	mode := d.Mode()
	stop()
	if v := d.Watch(c.id); v != Alive {
		t.Errorf("watching the living: %v", v)
	}
	if watched, polled := d.Counts(); watched != 0 || polled != 0 {
		t.Errorf("%d are watched and %d polled, want none", watched, polled)
	}
	if d.Mode() != mode || d.Why() == "" {
		t.Errorf("mode %q for %q, want %q and that it has ended", d.Mode(), d.Why(), mode)
	}
	d.Forget(c.id)
	c.kill(t)
	if v := d.Watch(c.id); v != Dead {
		t.Errorf("watching the dead: %v", v)
	}
}

func TestRunReturnsTheCauseAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	err := newDeaths(t).Run(ctx, func(id Identity) { t.Errorf("told of %v", id) })
	if !errors.Is(err, errStop) {
		t.Errorf("Run returned %v, want %v", err, errStop)
	}
}

// polledDeaths tells of what look says, by polling alone.
func polledDeaths(t testing.TB, look func(Identity) Sight) *Deaths {
	d := newDeaths(t)
	d.open = func() (notices, error) { return nil, errors.New("none here") }
	d.look = look
	return d
}

func TestWithoutNoticesDeathsArePolled(t *testing.T) {
	d := polledDeaths(t, Check)
	told := run(t, d)
	c, survivor := waiter(t), waiter(t)
	for _, id := range []Identity{c.id, survivor.id} {
		if v := d.Watch(id); v != Alive {
			t.Fatalf("Watch(%v) = %v", id, v)
		}
	}
	if watched, polled := d.Counts(); watched != 2 || polled != 2 || d.Mode() != "polled" || d.Why() != "none here" {
		t.Errorf("%d watched, %d polled, %s since %q", watched, polled, d.Mode(), d.Why())
	}
	c.kill(t)
	only(t, d, told, c.id)
	if v := d.Watch(c.id); v != Dead {
		t.Errorf("watching the dead: %v", v)
	}
}

// Who could not be asked is asked again, and told of only when it is known to be gone.
func TestUnknownIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verdict := Unknown
		d := polledDeaths(t, func(Identity) Sight { return Sight{Verdict: verdict} })
		set := func(v Verdict) {
			d.mu.Lock()
			defer d.mu.Unlock()
			verdict = v
		}
		id := Identity{PID: 7, Start: "5"}
		if v := d.Watch(id); v != Unknown {
			t.Errorf("Watch = %v, want unknown", v)
		}
		told := make(chan Identity, 1)
		stop := start(t, d, func(id Identity) { told <- id })
		time.Sleep(time.Hour)
		set(Alive)
		time.Sleep(time.Hour)
		if v := d.Watch(id); v != Alive {
			t.Errorf("when it could be asked Watch = %v, want alive", v)
		}
		if len(told) != 0 {
			t.Fatal("told of it before it was gone")
		}
		set(Replaced)
		asked := time.Now()
		if got := <-told; got != id {
			t.Errorf("told of %v", got)
		}
		if took := time.Since(asked); took > pollSoon {
			t.Errorf("told after %v, want %v at most", took, pollSoon)
		}
		stop()
	})
}

func TestPollingIsSlowerForMany(t *testing.T) {
	for n, want := range map[int]int{
		1:            int(time.Minute / pollSoon),
		pollMany:     int(time.Minute / pollSoon),
		pollMany + 1: int((time.Minute-pollSoon)/pollLater) + 1, // the first time soon
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := polledDeaths(t, func(Identity) Sight { asked++; return Sight{Verdict: Alive} })
			for i := range n {
				d.Watch(Identity{PID: 2 + i, Start: "5"})
			}
			asked = 0
			stop := start(t, d, func(id Identity) { t.Errorf("told of %v", id) })
			time.Sleep(time.Minute + time.Millisecond)
			stop()
			if asked != n*want {
				t.Errorf("%d were asked %d times in a minute, want %d times each", n, asked, want)
			}
		})
	}
}
