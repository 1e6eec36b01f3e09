package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"peerbus/events"
	"peerbus/test/audit"
)

// buildDir is where the program is built; TestMain makes and removes it.
var buildDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "pbuild")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		buildDir = dir
		return m.Run()
	}())
}

// program is the watcher as its users build it.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "watcher")
	cmd := exec.Command("go", "build", "-o", path, "peerbus/cmd/watcher")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the watcher: %w: %s", err, out)
	}
	return path, nil
})

// watcher is a `watcher run` that watches a home, and a `watcher tail` that says what it publishes.
type watcher struct {
	t         *testing.T
	home      *Home
	path      string
	run, tail *child
	names     map[string]string // what the story calls the peers, by thread
	told      int               // how many events the story has told
}

// watch starts a watcher with a state folder of its own, and returns when it answers. At the end of the test it is
// interrupted.
func watch(t *testing.T, h *Home) *watcher {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t: t, home: h, path: path, names: map[string]string{}}
	t.Cleanup(w.end)
	w.start()
	w.tells("watch resumed: start")
	return w
}

func (w *watcher) command(ctx context.Context, args ...string) *exec.Cmd {
	return w.home.command(ctx, w.path, append(args, "--json", "--state", filepath.Join(w.home.Dir, "state"))...)
}

func (w *watcher) start() {
	w.t.Helper()
	beyond := context.WithoutCancel(w.t.Context())
	w.run = start(w.t, w.command(beyond, "run", "--codex-home", w.home.Codex()))
	w.home.Until("the watcher answers", func() error {
		select {
		case <-w.run.ended:
			w.t.Fatalf("the watcher has ended: %v: %s", w.run.err, w.run.stderr.Bytes())
		default:
		}
		_, err := w.roster()
		return err
	})
	w.tail = start(w.t, w.command(beyond, "tail", "--from", "1"))
}

// kill ends the watcher as kill -9 does.
func (w *watcher) kill() {
	w.run.end(os.Kill)
	w.tail.end(os.Kill)
}

func (w *watcher) end() {
	if w.tail != nil {
		w.tail.end(os.Kill)
	}
	if w.run == nil {
		return
	}
	if err := w.run.end(os.Interrupt); err != nil {
		w.t.Errorf("interrupted, the watcher answers %v", err)
	}
	if w.t.Failed() {
		w.t.Logf("the watcher's log:\n%s", w.run.stderr.Bytes())
		w.t.Logf("what it has told:\n%s", w.tail.stdout.Bytes())
	}
}

// log is what has been published so far.
func (w *watcher) log() ([]events.Last, error) {
	var log []events.Last
	for line := range bytes.Lines(w.tail.stdout.Bytes()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the rest of it is still to come
		}
		var head struct {
			Seq uint64 `json:"seq"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Seq == 0 {
			return nil, fmt.Errorf("no event with a sequence: %s: %w", line, err)
		}
		e, err := events.Decode(line)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		log = append(log, events.Last{Seq: head.Seq, Event: e})
	}
	return log, nil
}

// closes is the end of a story: nothing more is told, and the log is one that can be.
func (w *watcher) closes() {
	w.t.Helper()
	log, err := w.log()
	if err != nil {
		w.t.Fatal(err)
	}
	if rest := w.story(log[w.told:]); len(rest) > 0 {
		w.t.Errorf("the story goes on: %q", rest)
	}
	for _, p := range audit.Audit(log) {
		w.t.Error(p)
	}
}

// listed is a line of `watcher ls`.
type listed struct {
	Peer events.Peer `json:"peer"`
}

func (w *watcher) roster() ([]events.Peer, error) {
	out, err := w.command(w.t.Context(), "ls").Output()
	if err != nil {
		return nil, explain(err)
	}
	var peers []events.Peer
	for line := range bytes.Lines(out) {
		var l listed
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("decode %s: %w", line, err)
		}
		peers = append(peers, l.Peer)
	}
	return peers, nil
}

// explain adds what a program said of its failure.
func explain(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// child is a process that runs beside the test.
type child struct {
	cmd            *exec.Cmd
	stdout, stderr stream
	ended          chan struct{}
	err            error // how it ended
}

func start(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.stdout, &c.stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %v: %v", cmd.Args, err)
	}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	return c
}

// end signals the process, unless it has ended, and waits until it has.
func (c *child) end(sig os.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.ended
	return c.err
}
