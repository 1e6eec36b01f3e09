package codex

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
)

// tellsHolders is that a census names those who took the locks.
const tellsHolders = true

// maxTable is how much of /proc/locks is read. A row has some 60 bytes, so that this is more than 100,000 locks; more
// would take longer than a look may take.
const maxTable = 8 << 20

// takeCensus asks about those files, all by one reading of /proc/locks: one costs 8 to 16 ms where the last was a
// second ago, whatever its size. The kernel gives the table by pages of some 65 rows, and a row may be missed when another
// one before it goes in between: that one is there once proves more than that it is not.
func takeCensus(files []lockFile) census {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return census{err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	if err != nil {
		return census{err: fmt.Errorf("read /proc/locks: %w", err)}
	}
	if len(data) > maxTable {
		return census{err: fmt.Errorf("read /proc/locks: larger than %d MiB", maxTable>>20)}
	}
	return join(files, data, ownPIDs())
}

// ownPIDs tells whether the pids that /proc shows are those that our system calls take, which is not so where /proc was
// mounted for another pid namespace than ours.
func ownPIDs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// seesAll tells whether no process can hide from us by its pid namespace: ours is the initial one. The kernel leaves
// the locks of processes that are in no namespace of ours out of /proc/locks.
func seesAll() bool {
	const initial = "pid:[4026531836]" // PROC_PID_INIT_INO of include/linux/proc_ns.h
	ns, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && ns == initial && ownPIDs()
}

// join finds the rows of the table that are about the files. pids is that the pids in it mean something.
func join(files []lockFile, table []byte, pids bool) census {
	wanted := make(map[uint64][]fileID, len(files))
	for _, f := range files {
		wanted[f.at.ino] = append(wanted[f.at.ino], f.at)
	}
	c := census{of: make(map[fileID]holding, len(files))}
	for line := range bytes.Lines(table) {
		row, ok := parseLock(line)
		if !ok {
			continue
		}
		if !pids {
			row.pid = 0
		}
		for _, f := range wanted[row.ino] {
			c.add(f, row)
		}
	}
	return c
}

// add notes a row with the number of the file f. Rows of the file's own device drive out those of others.
func (c census) add(f fileID, row lockRow) {
	h := c.of[f]
	t := taker{pid: row.pid, loose: unix.Major(f.dev) != row.major || unix.Minor(f.dev) != row.minor}
	if len(h.takers) > 0 && h.takers[0].loose != t.loose {
		if t.loose {
			return
		}
		h.takers = nil
	}
	h.takers = append(h.takers, t)
	c.of[f] = h
}

// lockRow is a row of /proc/locks about an flock that is held.
type lockRow struct {
	pid          int // 0 where it is none that a session can have
	major, minor uint32
	ino          uint64
}

// parseLock reads a row, as
//
//	3: FLOCK  ADVISORY  WRITE 8654 fe:00:9979749 0 EOF
//
// It is not ok for what is no flock, as the POSIX locks that databases take, and for somebody who waits for one, who
// has "->" before the kind.
func parseLock(line []byte) (lockRow, bool) {
	f := bytes.Fields(line)
	if len(f) < 6 || string(f[1]) != "FLOCK" || string(f[3]) != "WRITE" && string(f[3]) != "READ" {
		return lockRow{}, false
	}
	major, rest, ok := bytes.Cut(f[5], []byte(":"))
	minor, ino, ok2 := bytes.Cut(rest, []byte(":"))
	if !ok || !ok2 {
		return lockRow{}, false
	}
	maj, err1 := strconv.ParseUint(string(major), 16, 32)
	mnr, err2 := strconv.ParseUint(string(minor), 16, 32)
	num, err3 := strconv.ParseUint(string(ino), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return lockRow{}, false
	}
	row := lockRow{major: uint32(maj), minor: uint32(mnr), ino: num}
	if pid, err := strconv.ParseInt(string(f[4]), 10, 64); err == nil && proc.ValidPID(pid) {
		row.pid = int(pid)
	}
	return row, true
}
