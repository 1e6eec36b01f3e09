package proc

import (
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const plenty = 1 << 20

// with makes d see processes by k, and hold most pidfds at a time.
func (d *Deaths) with(k kernel, most int) *Deaths {
	d.open = func() (notices, error) {
		p, err := openPidfds(k, most)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	d.look = func(id Identity) Sight { return judge(id, k.look(id.PID)) }
	return d
}

// sleeper is a process that costs little: hundreds of copies of the test binary would not fit.
func sleeper(t testing.TB) *child {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd}
	t.Cleanup(func() { c.kill(t) })
	c.id = Identity{PID: cmd.Process.Pid, Start: Look(cmd.Process.Pid).Start}
	return c
}

func openFiles(t testing.TB) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestMode(t *testing.T) {
	d := newDeaths(t)
	if d.Mode() != "pidfd" || d.Why() != "" {
		t.Errorf("mode %q for %q, want pidfd", d.Mode(), d.Why())
	}
	start(t, d, func(Identity) {})
}

func TestDeathBetweenTheStepsOfWatch(t *testing.T) {
	before := openFiles(t)
	for _, point := range []string{"before open", "between open and stat", "between stat and poll"} {
		for _, zombie := range []bool{false, true} {
			c := sleeper(t)
			die := func() { c.kill(t) }
			if zombie {
				die = func() { c.end(t) }
			}
			armed := atomic.Bool{}
			k := deadly(t, system, point, func() {
				if armed.CompareAndSwap(true, false) { // not when Deaths opens its own pidfd
					die()
				}
			})
			d := newDeaths(t).with(k, plenty)
			stop := start(t, d, func(id Identity) { t.Errorf("%s: told of %v, which was never watched", point, id) })
			d.Mode()
			armed.Store(true)
			if v := d.Watch(c.id); v != Dead {
				t.Errorf("%s, zombie %v: %v, want dead", point, zombie, v)
			}
			if watched, _ := d.Counts(); watched != 0 {
				t.Errorf("%s: %d are watched", point, watched)
			}
			stop()
			c.kill(t)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before and %d after", before, after)
	}
}

// The kernel tells of a death before the process is reaped.
func TestZombieIsTold(t *testing.T) {
	d := newDeaths(t)
	told := run(t, d)
	c := sleeper(t)
	d.Watch(c.id)
	c.end(t)
	if id := next(t, told); id != c.id {
		t.Errorf("told of %v, want %v", id, c.id)
	}
	if v := d.Watch(c.id); v != Dead {
		t.Errorf("watching the zombie: %v, want dead", v)
	}
}

// A process that hides is pinned all the same.
func TestHiddenProcessIsWatched(t *testing.T) {
	k := system
	k.kill = func(int) error { return unix.EPERM }
	k.readStat = func(int) (stat, error) { return stat{}, unix.ENOENT }
	d := newDeaths(t).with(k, plenty)
	told := run(t, d)
	c := sleeper(t)
	if v := d.Watch(c.id); v != Alive {
		t.Fatalf("Watch = %v, want alive", v)
	}
	if _, polled := d.Counts(); polled != 0 {
		t.Errorf("it is polled for %q", d.Why())
	}
	c.kill(t)
	if id := next(t, told); id != c.id {
		t.Errorf("told of %v, want %v", id, c.id)
	}
}

func TestPidfdErrorsArePolled(t *testing.T) {
	for _, failure := range []error{unix.EPERM, unix.ENOSYS, unix.EMFILE, unix.ENODEV} {
		for name, spared := range map[string]int{"all": -1, "all but oneself": os.Getpid()} {
			t.Run(name+"/"+failure.Error(), func(t *testing.T) {
				k := system
				k.pidfdOpen = func(pid int) (int, error) {
					if pid == spared {
						return system.pidfdOpen(pid)
					}
					return -1, failure
				}
				d := newDeaths(t).with(k, plenty)
				told := run(t, d)
				c, survivor := sleeper(t), sleeper(t)
				for _, id := range []Identity{c.id, survivor.id} {
					if v := d.Watch(id); v != Alive {
						t.Errorf("Watch(%v) = %v, want alive", id, v)
					}
				}
				if watched, polled := d.Counts(); watched != 2 || polled != 2 {
					t.Errorf("%d are watched and %d polled, want 2 and 2", watched, polled)
				}
				if want := map[bool]string{true: "polled", false: "pidfd"}[spared < 0]; d.Mode() != want {
					t.Errorf("mode %q, want %q", d.Mode(), want)
				}
				if want := "pidfd_open: " + failure.Error(); d.Why() != want {
					t.Errorf("polled for %q, want %q", d.Why(), want)
				}
				c.kill(t)
				only(t, d, told, c.id)
			})
		}
	}
}

// Who is beyond the limit is polled, and gets a pidfd when one is given back.
func TestBeyondTheLimitIsPolled(t *testing.T) {
	d := newDeaths(t).with(system, 1)
	told := run(t, d)
	first, second := sleeper(t), sleeper(t)
	d.Watch(first.id)
	if v := d.Watch(second.id); v != Alive {
		t.Fatalf("watching the second: %v", v)
	}
	if _, polled := d.Counts(); polled != 1 || d.Mode() != "pidfd" || d.Why() != errRoom.Error() {
		t.Errorf("%d polled, %s, %q; want 1 for want of room", polled, d.Mode(), d.Why())
	}
	first.kill(t)
	eventually(t, "the second gets a pidfd", func() bool { w, p := d.Counts(); return w == 1 && p == 0 })
	if d.Why() != "" {
		t.Errorf("none is polled, and why is %q", d.Why())
	}
	second.kill(t)
	only(t, d, told, first.id, second.id)
}

func TestMostPidfds(t *testing.T) {
	for limit, want := range map[uint64]int{0: 0, 64: 0, 100: 36, 128: 64, 1024: 512, 20_000: 10_000, unix.RLIM_INFINITY: 1 << 29} {
		if got := mostPidfds(limit); got != want {
			t.Errorf("of %d descriptors %d may be pidfds, want %d", limit, got, want)
		}
	}
}

// spoiled is notices that go wrong on demand.
type spoiled struct {
	notices
	spoil func(ended []uint64, err error) (told, doubtful []uint64, _ error)
}

func (s spoiled) wait(timeout time.Duration) (ended, doubtful []uint64, err error) {
	ended, _, err = s.notices.wait(timeout)
	return s.spoil(ended, err)
}

func (d *Deaths) spoiled(spoil func([]uint64, error) ([]uint64, []uint64, error)) *Deaths {
	open := d.open
	d.open = func() (notices, error) {
		n, err := open()
		return spoiled{n, spoil}, err
	}
	return d
}

func TestWhenWaitingFailsDeathsArePolled(t *testing.T) {
	before := openFiles(t)
	broken := errors.New("broken")
	d := newDeaths(t).spoiled(func([]uint64, error) ([]uint64, []uint64, error) { return nil, nil, broken })
	c, survivor := sleeper(t), sleeper(t)
	d.Watch(c.id)
	d.Watch(survivor.id)
	told := make(chan Identity, 10)
	stop := start(t, d, func(id Identity) { told <- id })
	c.kill(t)
	if id := next(t, told); id != c.id {
		t.Errorf("told of %v, want %v", id, c.id)
	}
	if w, p := d.Counts(); w != 1 || p != 1 || d.Mode() != "polled" || d.Why() != "wait for deaths: broken" {
		t.Errorf("%d watched, %d polled, %s since %q; want the survivor polled", w, p, d.Mode(), d.Why())
	}
	stop()
	survivor.kill(t)
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before and %d after", before, after)
	}
}

// A notice that proves nothing is looked into: the dead are told, and the living go back to be told of by the kernel.
func TestDoubtfulNotice(t *testing.T) {
	c, survivor := sleeper(t), sleeper(t)
	d := newDeaths(t).spoiled(func(ended []uint64, err error) ([]uint64, []uint64, error) {
		if len(ended) == 0 {
			return nil, nil, err
		}
		return nil, []uint64{1, 2}, err // the keys of both
	})
	told := run(t, d)
	d.Watch(c.id)
	d.Watch(survivor.id)
	c.kill(t)
	if id := next(t, told); id != c.id {
		t.Errorf("told of %v, want %v", id, c.id)
	}
	eventually(t, "the survivor is not polled any more", func() bool { w, p := d.Counts(); return w == 1 && p == 0 })
	if len(told) > 0 {
		t.Errorf("told of %v", <-told)
	}
}
