package codex

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
)

func init() {
	roles["codex"] = beCodex
}

// beCodex holds locks as it is told on its standard input, a word and a path a line, and answers each with "ok" or
// with what went wrong. It ends with its input.
func beCodex() int {
	open := map[string]*os.File{} // kept here, since a file that nobody refers to is closed
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		what, path, _ := strings.Cut(in.Text(), " ")
		if err := codexDoes(open, what, path); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("ok")
		}
	}
	return 0
}

func codexDoes(open map[string]*os.File, what, path string) error {
	switch what {
	case "release": // as Codex does it: first the lock, then the file
		if err := open[path].Close(); err != nil {
			return err
		}
		return os.Remove(path)
	case "drop": // as Codex does where it cannot take its turn
		return open[path].Close()
	case "append":
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		open[path] = f
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	open[path] = f
	switch what {
	case "hold":
		return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	case "share":
		return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	case "wait":
		go unix.Flock(int(f.Fd()), unix.LOCK_EX)
		return nil
	case "posix":
		return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	case "bequeath": // takes it, and leaves it to a child
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return err
		}
		heir, err := codexCommand(os.Args[0])
		if err != nil {
			return err
		}
		heir.ExtraFiles = []*os.File{f}
		heir.Stdin = os.Stdin
		if err := heir.Start(); err != nil {
			return err
		}
		fmt.Println(heir.Process.Pid)
		return nil
	}
	return fmt.Errorf("what is %q", what)
}

func codexCommand(exe string) (*exec.Cmd, error) {
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"=codex")
	return cmd, nil
}

// process is a child process that holds locks.
type process struct {
	testing.TB
	pid   int
	start string
	kill  func() // as by kill -9; returns when it is reaped
	ask   func(what, path string) string
}

func spawn(t testing.TB) process {
	t.Helper()
	p, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start starts a child process, which ends with the test at the latest. It may be called from any goroutine.
func start(t testing.TB) (process, error) {
	exe, err := os.Executable()
	if err != nil {
		return process{}, err
	}
	return startWith(t, exe, nil)
}

func startWith(t testing.TB, exe string, attr *syscall.SysProcAttr) (process, error) {
	cmd, err := codexCommand(exe)
	if err != nil {
		return process{}, err
	}
	cmd.SysProcAttr = attr
	// Not by StdinPipe, which ends with the process: an heir reads on.
	in, stdin, err := os.Pipe()
	if err != nil {
		return process{}, err
	}
	t.Cleanup(func() { stdin.Close() })
	defer in.Close()
	cmd.Stdin = in
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return process{}, err
	}
	if err := cmd.Start(); err != nil {
		return process{}, err
	}
	end := sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait() // that it was killed is no error here
	})
	t.Cleanup(end)
	out := bufio.NewScanner(stdout)
	sight := proc.Look(cmd.Process.Pid)
	if sight.Verdict != proc.Alive {
		return process{}, fmt.Errorf("own child is %v: %v", sight.Verdict, sight.Err)
	}
	return process{
		TB: t, pid: cmd.Process.Pid, start: sight.Start, kill: end,
		ask: func(what, path string) string {
			fmt.Fprintln(stdin, what, path) // a child that is gone answers nothing
			out.Scan()
			return out.Text()
		},
	}, nil
}

// self is the test's own process, which holds threads until the test ends.
func self(t testing.TB) process {
	open := map[string]*os.File{}
	t.Cleanup(func() {
		for _, f := range open {
			f.Close()
		}
	})
	return process{
		TB: t, pid: os.Getpid(), start: proc.SelfID().Start,
		ask: func(what, path string) string {
			if err := codexDoes(open, what, path); err != nil {
				return err.Error()
			}
			return "ok"
		},
	}
}

// does has the process do something with a path, which must succeed.
func (p process) does(what, path string) {
	p.Helper()
	if got := p.ask(what, path); got != "ok" {
		p.Fatalf("%s %s: %q", what, path, got)
	}
}
