package proc

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// role is the variable that makes the test binary one of the processes that the tests look at.
const role = "PROC_TEST_ROLE"

// roles are what a child does once it has said that it is ready, before it ends with its stdin.
var roles = map[string]func(){"wait": func() {}}

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		_, _ = os.Stdout.WriteString("ready\n")
		roles[name]()
		select {} // until os.Exit
	}
	goleak.VerifyTestMain(m)
}

// child is a process that lives until the test ends or kills it.
type child struct {
	id    Identity
	cmd   *exec.Cmd
	stdin io.Closer
}

// spawn starts cmd as the test binary in a role, and returns when it is ready.
func spawn(t testing.TB, name string, cmd *exec.Cmd) *child {
	t.Helper()
	cmd.Env = append(os.Environ(), role+"="+name, "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, stdin: stdin}
	t.Cleanup(func() { c.kill(t) })
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("waiting for the child: %v", err)
	}
	c.id = Identity{PID: cmd.Process.Pid, Start: Look(cmd.Process.Pid).Start}
	return c
}

// waiter starts a process that does nothing.
func waiter(t testing.TB) *child {
	t.Helper()
	return spawn(t, "wait", exec.Command(self(t)))
}

// kill ends the child by SIGKILL and reaps it, once.
func (c *child) kill(t testing.TB) {
	t.Helper()
	if c.cmd.ProcessState != nil {
		return
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Errorf("killing the child: %v", err)
	}
	_ = c.cmd.Wait() // it was killed, which is an error
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func newDeaths(testing.TB) *Deaths { return NewDeaths(slog.New(slog.DiscardHandler)) }

// eventually asks until cond holds, for 20 s at most: a machine that is busy with other tests may be slow.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
