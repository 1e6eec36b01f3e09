package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"peerbus/events"
)

// daemon is a watcher that runs as a program of its own. One goroutine starts and ends it.
type daemon struct {
	watcher, state, home string
	// peer and event are called with each line of its standard output, in order, by one goroutine.
	peer  func(seq uint64, p events.Peer)
	event func(l events.Last, heard time.Time)
	// wrong is told of a line that is neither.
	wrong func(line string)

	cmd    *exec.Cmd
	stderr *lines
	ready  chan struct{} // closed at the line that says that it watches again
	read   sync.WaitGroup
}

// lines collects lines that are written to it.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.FieldsFunc(l.buf.String(), func(r rune) bool { return r == '\n' })
}

// start returns at once; ready says when it watches.
func (d *daemon) start() error {
	d.cmd = exec.Command(d.watcher, "run", "--json", "--state", d.state, "--claude-home", d.home)
	if err := d.begin(); err != nil {
		return fmt.Errorf("start the watcher: %w", err)
	}
	return nil
}

// begin starts the command and listens to it.
func (d *daemon) begin() error {
	if d.stderr == nil {
		d.stderr = &lines{}
	}
	d.cmd.Stderr = d.stderr
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.ready = make(chan struct{})
	d.read.Go(func() { d.listen(stdout, d.ready) })
	return nil
}

// listen reads the output to its end. A last line that was cut off is none.
func (d *daemon) listen(stdout io.Reader, ready chan<- struct{}) {
	r := bufio.NewReaderSize(stdout, 1<<20)
	for begun := false; ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		heard := time.Now()
		var l struct {
			Seq  uint64
			Type string
			Peer *events.Peer
		}
		if err := json.Unmarshal(line, &l); err != nil || l.Type == "" && l.Peer == nil {
			d.wrong(string(line))
			continue
		}
		if l.Type == "" {
			d.peer(l.Seq, *l.Peer)
			continue
		}
		e, err := events.Decode(line)
		if err != nil {
			d.wrong(string(line))
			continue
		}
		d.event(events.Last{Seq: l.Seq, Event: e}, heard)
		if _, resumed := e.(events.WatchResumed); resumed && !begun {
			begun = true
			close(ready)
		}
	}
}

// awaitReady returns when the watcher watches.
func (d *daemon) awaitReady(within time.Duration) error {
	select {
	case <-d.ready:
		return nil
	case <-time.After(within):
		return fmt.Errorf("the watcher does not watch after %v; it says: %s", within, strings.Join(d.stderr.all(), " | "))
	}
}

// kill ends it by SIGKILL. It is our child and was not waited for, so the pid is its own. All it has said was heard
// when kill returns.
func (d *daemon) kill() error {
	if err := d.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the watcher: %w", err)
	}
	d.read.Wait()
	err := d.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
		return fmt.Errorf("the watcher had ended by itself: %w; it says: %s", errOr(err, "exit 0"), strings.Join(d.stderr.all(), " | "))
	}
	return nil
}

func errOr(err error, text string) error {
	if err == nil {
		return errors.New(text)
	}
	return err
}

// stopIn is how long the watcher may take to end when it is told to. It promises a second.
const stopIn = 5 * time.Second

// stop has it end by itself, with exit code 0.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the watcher: %w", err)
	}
	late := time.AfterFunc(stopIn, func() { _ = d.cmd.Process.Kill() })
	d.read.Wait()
	err := d.cmd.Wait()
	if !late.Stop() {
		return fmt.Errorf("the watcher did not end within %v", stopIn)
	}
	if err != nil {
		return fmt.Errorf("stop the watcher: %w; it says: %s", err, strings.Join(d.stderr.all(), " | "))
	}
	return nil
}
