package state

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the offset of the one locked byte: far behind what the file holds, since others may not read a locked
// range.
const lockAt = 1 << 30

// tryLock takes the lock on f, or answers false where another process has it. The kernel frees it when f is closed or
// the process ends in any way.
func tryLock(f *os.File) (bool, error) {
	at := windows.Overlapped{Offset: lockAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch err {
	case nil:
		return true, nil
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return false, nil
	}
	return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
