package state

import (
	"errors"
	"fmt"
)

// Why a folder cannot be used. Each comes wrapped in one line that says which folder and what to do.
var (
	ErrNone       = errors.New("no state folder")
	ErrNewer      = errors.New("the state folder is of a newer version")
	ErrForeign    = errors.New("the state folder belongs to another machine")
	ErrNetwork    = errors.New("the state folder is on a network file system")
	ErrNotState   = errors.New("the folder is not empty and no state folder")
	ErrNotRunning = errors.New("no bus is announced")
)

// LockedError says that another watcher holds the folder.
type LockedError struct {
	Path string
	PID  int // 0 where it has not said so yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "another watcher is running on " + e.Path
	}
	return fmt.Sprintf("another watcher is running on %s: pid %d", e.Path, e.PID)
}

func anew(path string) string { return "; to start anew, move that folder away: " + path }
