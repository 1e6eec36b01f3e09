package claude

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"peerbus/internal/proc"
)

// roleEnv makes the test binary a session: a process that lives until its standard input ends.
const roleEnv = "PEERBUS_CLAUDE_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "session" {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// process is a child process.
type process struct {
	pid   int
	start string
	end   func() // kills it, and returns when it is reaped
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
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"=session")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return process{}, err
	}
	if err := cmd.Start(); err != nil {
		return process{}, err
	}
	end := sync.OnceFunc(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait() // that it was killed is no error here
	})
	t.Cleanup(end)
	sight := proc.Look(cmd.Process.Pid)
	if sight.Verdict != proc.Alive {
		return process{}, fmt.Errorf("own child is %v: %v", sight.Verdict, sight.Err)
	}
	return process{pid: cmd.Process.Pid, start: sight.Start, end: end}, nil
}

// procStart is the start of p as Claude Code writes it.
func (p process) procStart() string {
	if runtime.GOOS != "darwin" {
		return p.start
	}
	sec, _ := strconv.ParseInt(p.start, 10, 64)
	return time.Unix(sec, 0).UTC().Format("Mon Jan _2 15:04:05 2006")
}

// eventually waits until ok, which it asks again and again, and fails the test after ten seconds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
