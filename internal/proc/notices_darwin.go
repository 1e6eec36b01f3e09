package proc

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const pollSoon = 250 * time.Millisecond

// kevents tells of ends by one kqueue. A kqueue knows processes by pid, so that an event for a pid is about all keys
// that have it; each event takes them out.
type kevents struct {
	kq int

	mu   sync.Mutex
	keys map[int][]uint64 // by pid
	pids map[uint64]int   // by key
}

func openNotices() (notices, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	unix.CloseOnExec(kq)
	k := &kevents{kq: kq, keys: map[int][]uint64{}, pids: map[uint64]int{}}
	if err := k.change(unix.Kevent_t{Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR}); err != nil {
		unix.Close(kq)
		return nil, err
	}
	return k, nil
}

func (k *kevents) mode() string { return "kqueue" }

// change hands one change to the kernel and returns its error.
func (k *kevents) change(e unix.Kevent_t) error {
	for {
		_, err := unix.Kevent(k.kq, []unix.Kevent_t{e}, nil, nil)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return fmt.Errorf("kevent: %w", err)
		}
	}
}

// arm has the kernel tell of the end of pid's bearer. NOTE_EXIT alone needs no privilege, NOTE_EXITSTATUS would.
// ESRCH is that nobody bears it, or somebody who has begun to exit.
func (k *kevents) arm(pid int) error {
	return k.change(unix.Kevent_t{
		Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT,
	})
}

// add binds the event to the process first and asks who it is second.
func (k *kevents) add(id Identity, key uint64) (Verdict, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	armed := k.arm(id.PID)
	s := Check(id)
	switch {
	case s.Verdict != Alive:
		return s.Verdict, s.Err
	case armed != nil:
		return Unknown, armed
	}
	k.keys[id.PID] = append(k.keys[id.PID], key)
	k.pids[key] = id.PID
	return Alive, nil
}

// drop leaves the event with the kernel: when it comes, it fits nobody.
func (k *kevents) drop(key uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pid, ok := k.pids[key]
	if !ok {
		return
	}
	delete(k.pids, key)
	left := k.keys[pid][:0]
	for _, other := range k.keys[pid] {
		if other != key {
			left = append(left, other)
		}
	}
	if k.keys[pid] = left; len(left) == 0 {
		delete(k.keys, pid)
	}
}

func (k *kevents) wait(timeout time.Duration) (ended, doubtful []uint64, err error) {
	var limit *unix.Timespec
	if timeout >= 0 {
		ts := unix.NsecToTimespec(timeout.Nanoseconds())
		limit = &ts
	}
	var batch [64]unix.Kevent_t
	n, err := unix.Kevent(k.kq, nil, batch[:], limit)
	if err == unix.EINTR {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("kevent: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range batch[:n] {
		if e.Filter != unix.EVFILT_PROC {
			continue
		}
		keys := k.take(int(e.Ident))
		// The pid may have found another bearer, and been added for that one, while the event was on its way. The
		// kernel refuses to bind an event to a process that has begun to exit: then this was no mistake.
		if len(keys) > 0 && errors.Is(k.arm(int(e.Ident)), unix.ESRCH) {
			ended = append(ended, keys...)
		} else {
			doubtful = append(doubtful, keys...)
		}
	}
	return ended, doubtful, nil
}

func (k *kevents) take(pid int) []uint64 {
	keys := k.keys[pid]
	delete(k.keys, pid)
	for _, key := range keys {
		delete(k.pids, key)
	}
	return keys
}

func (k *kevents) wake() {
	_ = k.change(unix.Kevent_t{Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER}) // fails only when closed
}

func (k *kevents) close() { unix.Close(k.kq) }
