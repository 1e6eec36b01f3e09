// Package world makes a Claude home with stand-in sessions in it, each a process and a record, that do at random what
// sessions do, and knows the truth about them.
package world

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"peerbus/internal/proc"
)

// standInEnv has a program that calls [StandIn] be a stand-in's process.
const standInEnv = "PEERBUS_SOAK_STANDIN"

// StandIn makes the running process a stand-in's, if it was started as one, and then does not return: it ends when its
// standard input is closed, which it is when its maker ends too. A program that makes a [World] calls it first in main.
func StandIn() {
	if os.Getenv(standInEnv) == "" {
		return
	}
	os.Stdout.WriteString("\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// process is the process of a stand-in.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
	start string // as the system counts
	began time.Time
}

// spawn returns when the process waits at its standard input.
func spawn(exe string) (*process, error) {
	p := &process{cmd: exec.Command(exe)}
	// One thread to run on and no collections keep a few hundred of them light.
	p.cmd.Env = []string{standInEnv + "=1", "GOMAXPROCS=1", "GOGC=off"}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	p.stdin, p.out = stdin, bufio.NewReaderSize(stdout, 16)
	if _, err := p.out.ReadByte(); err != nil {
		_ = p.kill()
		p.reap()
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	seen := proc.Look(p.pid())
	p.start, p.began = seen.Start, seen.Began
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process by SIGKILL. It is our child and was not reaped, so its pid is its own.
func (p *process) kill() error { return p.cmd.Process.Kill() }

// quit lets the process end by itself.
func (p *process) quit() { p.stdin.Close() }

// ended returns when the process has ended, which it was told to; it may still wait to be reaped.
func (p *process) ended() {
	_, _ = io.Copy(io.Discard, p.out)
	// A process closes its files a little before it is over.
	for proc.Check(proc.Identity{PID: p.pid(), Start: p.start}).Verdict == proc.Alive {
		time.Sleep(time.Millisecond)
	}
}

// reap returns when nothing is left of the process.
func (p *process) reap() {
	p.stdin.Close()
	_ = p.cmd.Wait() // how it ended is known
}
