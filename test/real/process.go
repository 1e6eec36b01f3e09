package real

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// kill ends p, if it is still p.
func (p process) kill() error {
	if _, start := stat(p.pid); start != p.start {
		return nil
	}
	proc, err := os.FindProcess(p.pid)
	if err != nil {
		return err
	}
	if err := proc.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// running are the processes whose $HOME is dir. A zombie has no environment any more and is not among them.
func running(dir string) []process {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err) // the pattern is a good one
	}
	var found []process
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err != nil || !slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == "HOME="+dir }) {
			continue // it ended, or is somebody else's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		p := process{pid: pid}
		state, start := stat(pid)
		if args, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline")); err == nil && state != "" && state != "Z" {
			p.start, p.args = start, strings.ReplaceAll(string(args), "\x00", " ")
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
