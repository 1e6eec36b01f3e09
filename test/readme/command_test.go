//go:build unix

package readme

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// patience is how long anything may take but for building. Each thing takes less than a second on a machine that
	// does nothing else.
	patience = 30 * time.Second
	// building is how long a build may take that finds nothing in the cache.
	building = 5 * time.Minute
	// pollEvery is how often is looked.
	pollEvery = 20 * time.Millisecond
)

// until looks until check answers nil. After 30 s the test ends with the last answer.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	err := check()
	for deadline := time.Now().Add(patience); err != nil; err = check() {
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s: %v", what, err)
		}
		time.Sleep(pollEvery)
	}
}

// text is what a program has written so far.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.String()
}

// command is a program that runs, in a process group of its own, as a shell gives it a job of its own. It is reaped by
// code alone, so that until then its pid and its group are its own.
type command struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    text // what it wrote to its standard output, and
	err    text // to its standard error
	ended  chan struct{}
	reaped bool
}

// start starts cmd, which ends with the test at the latest.
func start(t *testing.T, cmd *exec.Cmd) *command {
	t.Helper()
	c := &command{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	// A pipe that breaks is one that ends.
	read.Go(func() { _, _ = io.Copy(&c.out, stdout) })
	read.Go(func() { _, _ = io.Copy(&c.err, stderr) })
	go func() {
		read.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		if !c.reaped {
			c.signal(syscall.SIGKILL)
			c.code(patience)
		}
	})
	return c
}

// signal sends to all of the group, as a terminal does at ^C.
func (c *command) signal(s syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(-c.cmd.Process.Pid, s); err != nil {
		c.t.Errorf("send %v to %v: %v", s, c.cmd.Args, err)
	}
}

// code waits until the program has ended, and returns its exit code, -1 where a signal ended it.
func (c *command) code(within time.Duration) int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(within):
		c.signal(syscall.SIGKILL)
		<-c.ended
		c.t.Errorf("%v did not end in %v", c.cmd.Args, within)
	}
	err := c.cmd.Wait()
	c.reaped = true
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		c.t.Errorf("%v: %v", c.cmd.Args, err)
	}
	return 0
}

// ends wants it to end by itself with that exit code.
func (c *command) ends(want int) *command {
	c.t.Helper()
	return c.endsIn(patience, want)
}

func (c *command) endsIn(within time.Duration, want int) *command {
	c.t.Helper()
	if got := c.code(within); got != want {
		c.t.Fatalf("%v ends with %d, not %d; it says:\n%s%s", c.cmd.Args, got, want, &c.out, &c.err)
	}
	return c
}

// stops sends a signal, and wants it to end with that exit code.
func (c *command) stops(s syscall.Signal, want int) *command {
	c.t.Helper()
	c.signal(s)
	return c.ends(want)
}

// printed answers nil when its standard output has a line that matches.
func (c *command) printed(pattern string) error {
	if regexp.MustCompile(`(?m)` + pattern).MatchString(c.out.String()) {
		return nil
	}
	select {
	case <-c.ended:
		return errors.New("it ended without printing " + pattern + ":\n" + c.out.String() + c.err.String())
	default:
		return errors.New("no " + pattern + " in:\n" + c.out.String() + c.err.String())
	}
}

// prints waits for a line that matches.
func (c *command) prints(pattern string) *command {
	c.t.Helper()
	until(c.t, "it prints", func() error { return c.printed(pattern) })
	return c
}
