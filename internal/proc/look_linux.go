package proc

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kernel is what is asked about a process. They are values so that a test can let a process die between any two.
type kernel struct {
	kill      func(pid int) error        // signal 0: ESRCH is no such process, EPERM is somebody else's
	pidfdOpen func(pid int) (int, error) // a file descriptor that stands for the process, whoever gets its pid later
	readStat  func(pid int) (stat, error)
}

var system = kernel{
	kill:      func(pid int) error { return unix.Kill(pid, 0) },
	pidfdOpen: func(pid int) (int, error) { return unix.PidfdOpen(pid, 0) },
	readStat:  readStat,
}

func look(pid int) Sight { return system.look(pid) }

func (k kernel) look(pid int) Sight {
	fd, err := k.pidfdOpen(pid)
	switch {
	case err == nil:
		defer unix.Close(fd)
		return k.lookPinned(pid, fd)
	case noProcess(err):
		return Sight{Verdict: Dead, Start: Unread}
	}
	// Not available: an old kernel, a sandbox, or no descriptor is left.
	return k.lookUnpinned(pid)
}

// noProcess tells whether this error of pidfd_open says that the pid is nobody's or a thread's. For a thread it is
// EINVAL, and ENOENT in newer kernels. EPERM is not among them: it comes from sandboxes, for every pid.
func noProcess(err error) bool {
	return err == unix.ESRCH || err == unix.EINVAL || err == unix.ENOENT
}

// lookPinned looks at the process for which fd stands. As that process still lives after its stat was read, no other
// one can have had the pid meanwhile, and the stat is its own.
func (k kernel) lookPinned(pid, fd int) Sight {
	st, statErr := k.readStat(pid)
	seen := sight(pid, st, statErr)
	ended, err := readable(fd)
	switch {
	case err != nil:
		return Sight{Start: Unread, Err: fmt.Errorf("poll pidfd: %w", err)}
	case ended:
		return Sight{Verdict: Dead, Start: Unread}
	}
	return seen
}

// lookUnpinned does without pidfd. The pid may change hands between two questions; then the answer is right for one of
// its bearers.
func (k kernel) lookUnpinned(pid int) Sight {
	if s, done := k.ask(pid); done {
		return s
	}
	st, err := k.readStat(pid)
	if err == nil && (st.thread() || st.ended()) {
		return Sight{Verdict: Dead, Start: Unread}
	}
	if err != nil {
		// Not being listed is no death, only ESRCH is.
		if s, done := k.ask(pid); done {
			return s
		}
	}
	return sight(pid, st, err)
}

// ask sends signal 0, which settles the matter unless somebody bears the pid.
func (k kernel) ask(pid int) (s Sight, done bool) {
	switch err := k.kill(pid); err {
	case nil, unix.EPERM:
		return Sight{}, false
	case unix.ESRCH:
		return Sight{Verdict: Dead, Start: Unread}, true
	default:
		return Sight{Start: Unread, Err: fmt.Errorf("signal 0: %w", err)}, true
	}
}

// sight is what a stat tells of a process that is there. One that we may not read is alive without a start; one that
// we could not read, for want of descriptors for instance, is unknown.
func sight(pid int, st stat, err error) Sight {
	switch err {
	case nil:
		s := Sight{Verdict: Alive, Start: strconv.FormatUint(st.start, 10), OtherClock: otherClock(pid)}
		if boot, err := Boot(); err == nil && st.start > 0 {
			s.Began = boot.Add(time.Duration(st.start) * tick)
		}
		return s
	case unix.ENOENT, unix.EACCES, unix.EPERM:
		return Sight{Verdict: Alive, Start: Unread, Err: fmt.Errorf("read stat: %w", err)}
	}
	return Sight{Start: Unread, Err: fmt.Errorf("read stat: %w", err)}
}

// readable tells whether a pidfd says that its process is over.
func readable(fd int) (bool, error) {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds[:], 0)
		if err != unix.EINTR {
			return n > 0 && fds[0].Revents&unix.POLLIN != 0, err
		}
	}
}

// tick is the unit of starts: USER_HZ, which is 100 on every architecture that Go knows.
const tick = time.Second / 100

// otherClock tells whether pid is proven to live in another time namespace than we do.
func otherClock(pid int) bool {
	ours := ourClock()
	var buf [64]byte
	n, err := unix.Readlink("/proc/"+strconv.Itoa(pid)+"/ns/time", buf[:])
	return err == nil && ours != nil && !bytes.Equal(ours, buf[:n])
}

// ourClock is nil on kernels without time namespaces.
var ourClock = sync.OnceValue(func() []byte {
	var buf [64]byte
	n, err := unix.Readlink("/proc/self/ns/time", buf[:])
	if err != nil {
		return nil
	}
	return buf[:n]
})
