package proc

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	roles["headless"] = func() { _, _, _ = syscall.Syscall(unix.SYS_EXIT, 0, 0, 0) }
	if os.Getenv(role) == "headless" {
		runtime.LockOSThread() // so that it is the first thread that ends in TestMain
	}
}

// kernels are the ways to look: with pidfds and, as on old kernels and in sandboxes, without.
func kernels() map[string]kernel {
	without := system
	without.pidfdOpen = func(int) (int, error) { return -1, unix.ENOSYS }
	return map[string]kernel{"pidfd": system, "no pidfd": without}
}

// end kills the child and waits for its end, but leaves it a zombie.
func (c *child) end(t testing.TB) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		err := unix.Waitid(unix.P_PID, c.id.PID, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if err != unix.EINTR {
			t.Fatalf("waitid: %v", err)
		}
	}
}

func TestZombieIsDead(t *testing.T) {
	c := waiter(t)
	c.end(t)
	if err := unix.Kill(c.id.PID, 0); err != nil {
		t.Fatalf("the zombie is gone: %v", err)
	}
	for name, k := range kernels() {
		if s := k.look(c.id.PID); s.Verdict != Dead {
			t.Errorf("%s: saw %+v, want dead", name, s)
		}
	}
}

func TestThreadIsNoProcess(t *testing.T) {
	ids, done := make(chan int), make(chan struct{})
	defer close(done)
	for range 2 { // one of two threads at least is not the first
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ids <- unix.Gettid()
			<-done
		}()
	}
	tid := max(<-ids, <-ids)
	if tid == os.Getpid() {
		t.Fatal("both are the first thread")
	}
	if err := unix.Kill(tid, 0); err != nil {
		t.Fatalf("the kernel does not know thread %d: %v", tid, err)
	}
	for name, k := range kernels() {
		if s := k.look(tid); s.Verdict != Dead {
			t.Errorf("%s: saw %+v, want dead", name, s)
		}
	}
	hidden := system
	hidden.kill = func(int) error { return unix.EPERM }
	hidden.readStat = func(int) (stat, error) { return stat{}, unix.ENOENT }
	if s := hidden.look(tid); s.Verdict != Dead {
		t.Errorf("hidden: saw %+v, want dead", s)
	}
}

// A process whose first thread has ended shows as a zombie and lives on.
func TestProcessWithoutItsFirstThreadIsAlive(t *testing.T) {
	c := spawn(t, "headless", exec.Command(self(t)))
	eventually(t, "the first thread ends", func() bool {
		s, err := readStat(c.id.PID)
		return err == nil && s.state == 'Z'
	})
	for name, k := range kernels() {
		if s := k.look(c.id.PID); s.Verdict != Alive || s.Start != c.id.Start {
			t.Errorf("%s: saw %+v, want %v alive", name, s, c.id)
		}
	}
	d := newDeaths(t)
	if v := d.Watch(c.id); v != Alive {
		t.Fatalf("watching it: %v", v)
	}
	told := run(t, d)
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if id := next(t, told); id != c.id {
		t.Errorf("told of %v, want %v", id, c.id)
	}
}

// Under hidepid a process of somebody else is not listed, and signal 0 is refused: it is alive, and nobody knows who.
func TestHiddenProcessIsAlive(t *testing.T) {
	c := waiter(t)
	for name, k := range kernels() {
		k.kill = func(int) error { return unix.EPERM }
		for _, refusal := range []error{unix.ENOENT, unix.EACCES, unix.EPERM} {
			k.readStat = func(int) (stat, error) { return stat{}, refusal }
			s := judge(c.id, k.look(c.id.PID))
			if s.Verdict != Alive || s.Start != Unread || s.Err == nil {
				t.Errorf("%s, %v: saw %+v, want alive without a start, and why", name, refusal, s)
			}
		}
	}
}

func TestProcessOfAnotherUserIsAlive(t *testing.T) {
	c := waiter(t)
	for name, k := range kernels() {
		k.kill = func(int) error { return unix.EPERM }
		if s := k.look(c.id.PID); s.Verdict != Alive || s.Start != c.id.Start {
			t.Errorf("%s: saw %+v, want %v alive", name, s, c.id)
		}
	}
}

// What could not be asked is unknown, and says why.
func TestFailuresAreUnknown(t *testing.T) {
	c := waiter(t)
	for name, k := range kernels() {
		for _, failure := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO, errStat} {
			k.readStat = func(int) (stat, error) { return stat{}, failure }
			if s := k.look(c.id.PID); s.Verdict != Unknown || s.Start != Unread || s.Err == nil {
				t.Errorf("%s, %v: saw %+v, want unknown, and why", name, failure, s)
			}
		}
	}
	k := kernels()["no pidfd"]
	k.kill = func(int) error { return unix.EINVAL }
	if s := k.look(c.id.PID); s.Verdict != Unknown || s.Err == nil {
		t.Errorf("signal 0 failed: saw %+v, want unknown, and why", s)
	}
}

// No error of pidfd_open but those that speak of the pid is taken for a death, or for anything else.
func TestPidfdErrorsProveNothing(t *testing.T) {
	c := waiter(t)
	for _, failure := range []error{unix.EPERM, unix.ENOSYS, unix.EMFILE, unix.ENFILE, unix.ENODEV, unix.ENOMEM, unix.EACCES} {
		k := system
		k.pidfdOpen = func(int) (int, error) { return -1, failure }
		if s := k.look(c.id.PID); s.Verdict != Alive || s.Start != c.id.Start {
			t.Errorf("%v: saw %+v, want %v alive", failure, s, c.id)
		}
	}
}

// deadly returns k with a death in it: c dies at the point named, and is reaped or left a zombie.
func deadly(t *testing.T, k kernel, point string, die func()) kernel {
	t.Helper()
	open, read, kill := k.pidfdOpen, k.readStat, k.kill
	switch point {
	case "before open":
		k.pidfdOpen = func(pid int) (int, error) { die(); return open(pid) }
	case "between open and stat":
		k.readStat = func(pid int) (stat, error) { die(); return read(pid) }
	case "between stat and poll":
		k.readStat = func(pid int) (stat, error) { s, err := read(pid); die(); return s, err }
	case "before signal 0":
		k.kill = func(pid int) error { die(); return kill(pid) }
	default:
		t.Fatalf("no such point: %s", point)
	}
	return k
}

func TestDeathBetweenTwoQuestions(t *testing.T) {
	for mode, points := range map[string][]string{
		"pidfd":    {"before open", "between open and stat", "between stat and poll"},
		"no pidfd": {"before open", "before signal 0", "between open and stat"},
	} {
		for _, point := range points {
			for _, end := range []string{"reaped", "zombie"} {
				t.Run(fmt.Sprintf("%s/%s/%s", mode, point, end), func(t *testing.T) {
					c := waiter(t)
					die := func() { c.kill(t) }
					if end == "zombie" {
						die = func() { c.end(t) }
					}
					if s := deadly(t, kernels()[mode], point, die).look(c.id.PID); s.Verdict != Dead || s.Start != Unread {
						t.Errorf("saw %+v, want dead", s)
					}
				})
			}
		}
	}
}

func TestBadPIDsReachNoSystemCall(t *testing.T) {
	real := system
	t.Cleanup(func() { system = real })
	refuse := func(call string, pid int) {
		if pid != os.Getpid() { // which Deaths asks for, to see whether pidfds are to be had
			t.Errorf("%s(%d)", call, pid)
		}
	}
	system = kernel{
		kill:      func(pid int) error { refuse("kill", pid); return real.kill(pid) },
		pidfdOpen: func(pid int) (int, error) { refuse("pidfd_open", pid); return real.pidfdOpen(pid) },
		readStat:  func(pid int) (stat, error) { refuse("read stat", pid); return real.readStat(pid) },
	}
	d := newDeaths(t)
	told := run(t, d)
	for _, pid := range badPIDs(t) {
		for _, start := range []string{Unread, "31702"} {
			id := Identity{PID: pid, Start: start}
			if s := Check(id); s.Verdict != Unknown {
				t.Errorf("Check(%v) = %+v, want unknown", id, s)
			}
			if v := d.Watch(id); v != Unknown {
				t.Errorf("Watch(%v) = %v, want unknown", id, v)
			}
			d.Forget(id)
		}
	}
	if watched, polled := d.Counts(); watched != 0 || polled != 0 {
		t.Errorf("%d are watched and %d polled, want none", watched, polled)
	}
	if len(told) != 0 {
		t.Errorf("told of %v", <-told)
	}
}

// In another time namespace the time since boot begins elsewhere, so that the start which a process reads of itself
// is not the one that is read here.
func TestTimeNamespaceProvesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/time"); err != nil {
		t.Skipf("no time namespaces in this kernel: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("making a time namespace needs root")
	}
	cmd := exec.Command(self(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWTIME}
	c := spawn(t, "wait", cmd)
	for name, k := range kernels() {
		s := k.look(c.id.PID)
		if s.Verdict != Alive || !s.OtherClock {
			t.Fatalf("%s: saw %+v, want alive by another clock", name, s)
		}
		if m := Compare(s.Start+"0", s); m != Unproven {
			t.Errorf("%s: another start is %v, want unproven", name, m)
		}
		if v := judge(Identity{PID: c.id.PID, Start: s.Start + "0"}, s).Verdict; v != Alive {
			t.Errorf("%s: with another start it is %v, want alive", name, v)
		}
	}
}

func TestDomain(t *testing.T) {
	const id = "3d1219c7c4c5404aaa1f6d2a48adfda4"
	for name, tc := range map[string]struct{ id, namespace, want string }{
		"as the files say": {id + "\n", "pid:[4026531836]", "linux:" + id + ":pid:[4026531836]"},
		"no id yet":        {"uninitialized\n", "pid:[4026531836]", ""},
		"empty":            {"", "pid:[4026531836]", ""},
		"upper case":       {"3D1219C7C4C5404AAA1F6D2A48ADFDA4", "pid:[4026531836]", ""},
		"no namespace":     {id, "", ""},
	} {
		if got := domain(tc.id, tc.namespace); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		if machineID, err := os.ReadFile("/etc/machine-id"); err == nil && Domain() != domain(string(machineID), namespace) {
			t.Errorf("Domain() = %q, want what the files say", Domain())
		}
	}
}
