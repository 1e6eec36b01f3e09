package codex

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process is one that runs, told from others that bear its pid at other times by its start.
type process struct {
	pid   int
	start string // field 22 of /proc/<pid>/stat
	args  string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.args) }

// find is the process of that pid, and whether it is there; a zombie is not.
func find(pid int) (process, bool) {
	state, start := stat(pid)
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || state == "" || state == "Z" {
		return process{}, false
	}
	return process{pid, start, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))}, true
}

// alive tells whether p still runs.
func (p process) alive() bool {
	now, ok := find(p.pid)
	return ok && now.start == p.start
}

// signal signals p, if it is still p.
func (p process) signal(sig os.Signal) error {
	if !p.alive() {
		return nil
	}
	proc, err := os.FindProcess(p.pid)
	if err != nil {
		return err
	}
	if err := proc.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// running are the processes that have dir in their environment or in their arguments. A zombie has neither any more
// and is not among them.
func running(dir string) []process {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic(err) // the pattern is a good one
	}
	var found []process
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		env, _ := os.ReadFile(filepath.Join(name, "environ")) // one that cannot be read is somebody else's
		args, _ := os.ReadFile(filepath.Join(name, "cmdline"))
		if !bytes.Contains(env, []byte(dir)) && !bytes.Contains(args, []byte(dir)) {
			continue
		}
		if p, ok := find(pid); ok {
			found = append(found, p)
		}
	}
	return found
}

// stat is the state and the start of a process, "" for none.
func stat(pid int) (state, start string) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", ""
	}
	// The second field is the program's name in parentheses, which may hold anything.
	_, rest, ok := strings.Cut(string(data[max(bytes.LastIndexByte(data, ')'), 0):]), " ")
	fields := strings.Fields(rest)
	const toStart = 22 - 3 // the first field behind the name is the third
	if !ok || len(fields) <= toStart {
		return "", ""
	}
	return fields[0], fields[toStart]
}
