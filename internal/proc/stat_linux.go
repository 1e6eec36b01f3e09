package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// stat is the part of /proc/<pid>/stat that tells who a process is and whether it lives.
type stat struct {
	state   byte   // 'Z' has ended and is not reaped, 'X' is being reaped
	threads int    // those that live, and the first one also after its end
	exit    int    // the signal that the parent gets at the end; below 0 for a thread that is not the first of its process
	start   uint64 // clock ticks since boot
}

// Numbers of the fields in proc(5). The state is the first behind the command's name.
const (
	fieldState   = 3
	fieldThreads = 20
	fieldStart   = 22
	fieldExit    = 38
)

// ended tells whether the process is over. A state of Z alone does not say so: it is that of the first thread, which
// may have ended while others go on.
func (s stat) ended() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

// thread tells whether this is a thread and no process: /proc answers for thread ids, though it does not list them.
func (s stat) thread() bool { return s.exit < 0 }

var errStat = errors.New("not a line of /proc/<pid>/stat")

// parseStat reads one line of /proc/<pid>/stat. The command's name is whatever a program calls itself, spaces,
// parentheses and newlines included; the last ")" ends it, since only numbers follow.
func parseStat(line []byte) (stat, error) {
	var s stat
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, errStat
	}
	field, rest := fieldState, bytes.TrimSpace(line[end+1:])
	for len(rest) > 0 && field <= fieldExit {
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte{' '})
		var err error
		switch field {
		case fieldState:
			if len(word) != 1 {
				return stat{}, errStat
			}
			s.state = word[0]
		case fieldThreads:
			s.threads, err = strconv.Atoi(string(word))
		case fieldStart:
			s.start, err = strconv.ParseUint(string(word), 10, 64)
		case fieldExit:
			s.exit, err = strconv.Atoi(string(word))
		}
		if err != nil {
			return stat{}, fmt.Errorf("%w: field %d: %w", errStat, field, err)
		}
		field++
	}
	if field <= fieldStart {
		return stat{}, fmt.Errorf("%w: it ends at field %d", errStat, field-1)
	}
	return s, nil
}

// readStat reads and parses /proc/<pid>/stat. ENOENT is that there is no such process or that it is hidden from us
// (hidepid), ESRCH that it went while it was read.
func readStat(pid int) (stat, error) {
	fd, err := openRetry("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	defer unix.Close(fd)
	// 52 numbers of at most 20 digits and a name of at most 64 bytes; the kernel gives the line in one read.
	var buf [2048]byte
	for {
		n, err := unix.Read(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return stat{}, err
		}
		return parseStat(buf[:n])
	}
}

func openRetry(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
