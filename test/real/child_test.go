package real

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// child is a process that runs beside the test.
type child struct {
	cmd            *exec.Cmd
	stdout, stderr output
}

// output is what a process has printed so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) Bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.buf.Bytes())
}

func (o *output) String() string { return string(o.Bytes()) }

func start(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{cmd: cmd}
	cmd.Stdout, cmd.Stderr = &c.stdout, &c.stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %v: %v", cmd.Args, err)
	}
	return c
}

// kill ends the process by force, if it runs.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill() // it may have ended by itself
		_ = c.cmd.Wait()         // says that it was killed
	}
}

// interrupt ends the process as ^C does, if it runs, and answers how it ended.
func (c *child) interrupt() error {
	if c.cmd.ProcessState != nil {
		return nil
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return c.cmd.Wait()
}
