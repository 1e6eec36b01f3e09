//go:build !windows

package state

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock on f, or answers false where another process has it. The kernel frees it when f is closed or
// the process ends in any way.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.EINTR:
		default:
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
