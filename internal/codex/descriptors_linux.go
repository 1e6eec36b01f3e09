package codex

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
)

// inspect looks at what the process has open. Links are read and not followed but for files that are named like one
// of those asked for: following one into a file system that does not answer would never end.
func inspect(pid int, files []lockFile) (descriptors, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	d, err := openFolder(dir + "/fd")
	if err != nil {
		return descriptors{}, err
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return descriptors{}, fmt.Errorf("list the descriptors of pid %d: %w", pid, err)
	}
	wanted := make(map[string]fileID, len(files))
	for _, f := range files {
		wanted[lockName(f.id)] = f.at
	}
	found := descriptors{locks: map[fileID]bool{}, rollouts: map[string]string{}}
	var buf [unix.PathMax]byte
	for _, name := range names {
		n, err := unix.Readlinkat(d.fd, name, buf[:])
		if err != nil {
			continue // closed meanwhile
		}
		path := string(buf[:n])
		base := filepath.Base(strings.TrimSuffix(path, " (deleted)"))
		if at, ok := wanted[base]; ok {
			if id, err := d.follow(name); err == nil && id == at && holdsLock(dir+"/fdinfo/"+name) {
				found.locks[at] = true
			}
		} else if id, ok := rolloutThread(base); ok {
			found.rollouts[id] = path
		}
	}
	return found, nil
}

// follow looks at the file behind a link without opening it.
func (d *folder) follow(name string) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, 0); err != nil {
		return fileID{}, err
	}
	return fileIDOf(&st), nil
}

// maxInfo is how much is read of what the kernel says of a descriptor: some 100 bytes, and a line a lock.
const maxInfo = 64 << 10

// holdsLock tells whether a lock is held by way of that descriptor, as its fdinfo says in a line like
//
//	lock:	1: FLOCK  ADVISORY  WRITE 17776 fe:00:9978014 0 EOF
func holdsLock(fdinfo string) bool {
	f, err := os.Open(fdinfo)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInfo))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if lock, ok := bytes.CutPrefix(line, []byte("lock:")); ok {
			if _, ok := parseLock(lock); ok {
				return true
			}
		}
	}
	return false
}

// heirs are the processes that have the file open by a descriptor that holds a lock, whoever took it. It looks at every
// process there is, and cannot look at those of other users.
func heirs(f lockFile) []int {
	d, err := openFolder("/proc")
	if err != nil {
		return nil
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.ParseInt(name, 10, 64)
		if err != nil || !proc.ValidPID(pid) {
			continue
		}
		if found, err := inspect(int(pid), []lockFile{f}); err == nil && found.locks[f.at] {
			pids = append(pids, int(pid))
		}
	}
	return pids
}
