package proc

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

func look(pid int) Sight {
	const access = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	h, err := windows.OpenProcess(access, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return Sight{Verdict: Dead, Start: Unread}
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return Sight{Verdict: Alive, Start: Unread, Err: fmt.Errorf("open process: %w", err)}
	case err != nil:
		return Sight{Start: Unread, Err: fmt.Errorf("open process: %w", err)}
	}
	defer func() { _ = windows.CloseHandle(h) }() // of a valid handle, it does not fail
	return lookOpen(pid, h)
}

// lookOpen looks at the process behind h. Its pid is asked back, since OpenProcess ignores the two lowest bits.
func lookOpen(pid int, h windows.Handle) Sight {
	if id, err := windows.GetProcessId(h); err != nil {
		return Sight{Start: Unread, Err: fmt.Errorf("ask for the pid: %w", err)}
	} else if id != uint32(pid) {
		return Sight{Verdict: Dead, Start: Unread}
	}
	if event, err := windows.WaitForSingleObject(h, 0); err != nil {
		return Sight{Start: Unread, Err: fmt.Errorf("ask for the end: %w", err)}
	} else if event == windows.WAIT_OBJECT_0 {
		return Sight{Verdict: Dead, Start: Unread}
	}
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return Sight{Verdict: Alive, Start: Unread, Err: fmt.Errorf("ask for the start: %w", err)}
	}
	start := uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	return Sight{Verdict: Alive, Start: strconv.FormatUint(start, 10), Began: time.Unix(0, created.Nanoseconds())}
}
