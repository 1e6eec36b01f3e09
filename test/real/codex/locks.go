package codex

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Locks reads who holds which thread: for each file in the folder of writer locks the pid that holds it, 0 for nobody.
// No file is opened, since that is not without effect on clients that start.
func (h *Home) Locks() (map[string]int, error) {
	dir := filepath.Join(h.Codex(), "thread-writer-locks")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the locks: %w", err)
	}
	inodes := map[string]uint64{}
	for _, e := range entries {
		thread, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || thread == ".coordination" {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the locks: %w", err)
		}
		inodes[thread] = inode(info)
	}
	holders, err := holders()
	if err != nil {
		return nil, err
	}
	locks := map[string]int{}
	for thread, inode := range inodes {
		locks[thread] = holders[inode]
	}
	return locks, nil
}

// holders are the pids that hold a lock of the kind that Codex takes, by the inode of the file.
func holders() (map[uint64]int, error) {
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, err
	}
	found := map[uint64]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line) // "1: FLOCK ADVISORY WRITE 17776 fe:00:9978014 0 EOF"
		if len(f) < 6 || f[1] != "FLOCK" {
			continue // of another kind, or one that waits
		}
		pid, err := strconv.Atoi(f[4])
		if err != nil {
			return nil, fmt.Errorf("read /proc/locks: %q: %w", line, err)
		}
		inode, err := strconv.ParseUint(f[5][strings.LastIndexByte(f[5], ':')+1:], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read /proc/locks: %q: %w", line, err)
		}
		found[inode] = pid
	}
	return found, nil
}

// held are the threads that somebody holds.
func (h *Home) held() []string {
	h.t.Helper()
	locks, err := h.Locks()
	if err != nil {
		h.t.Fatal(err)
	}
	maps.DeleteFunc(locks, func(_ string, pid int) bool { return pid == 0 })
	return slices.Sorted(maps.Keys(locks))
}

// another waits until a thread is held that is not one of those before, and returns it.
func (h *Home) another(before []string) (thread string) {
	h.t.Helper()
	h.Until("there is one more thread", func() error {
		for _, id := range h.held() {
			if !slices.Contains(before, id) {
				thread = id
				return nil
			}
		}
		return errors.New("there is not")
	})
	return thread
}
