package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Run is a `codex exec`, which ends by itself after one turn.
type Run struct {
	PID    int
	Thread string

	home   *Home
	cmd    *exec.Cmd
	stdout stream
	stderr stream
	ended  chan struct{}
}

// stream is what a process has printed so far.
type stream struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

// Bytes is a copy of all of it.
func (s *stream) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.buf.Bytes())
}

// Exec starts `codex exec` on text, with flags, and returns when it says that its turn has begun. Before that it does
// not hear an interrupt, though its rollout has the turn already.
func (h *Home) Exec(text string, flags ...string) *Run {
	h.t.Helper()
	args := append([]string{"exec", "--json", "--skip-git-repo-check"}, flags...)
	r := &Run{home: h, cmd: h.command(h.t.Context(), h.client.path, append(args, text)...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		h.t.Fatalf("start codex exec: %v", err)
	}
	go func() {
		r.cmd.Wait() // how it ended is in its state
		close(r.ended)
	}()
	h.t.Cleanup(func() { <-r.ended }) // which comes with the end of the test's context
	r.PID = r.cmd.Process.Pid
	h.Until("codex exec begins a turn", func() error {
		select {
		case <-r.ended:
			if err := r.begun(); err != nil {
				h.t.Fatalf("codex exec has ended before its turn began: %v", err)
			}
		default:
		}
		return r.begun()
	})
	return r
}

// begun is nil when it has said that its turn has begun.
func (r *Run) begun() error {
	for line := range bytes.Lines(r.stdout.Bytes()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var event struct {
			Type   string `json:"type"`
			Thread string `json:"thread_id"`
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("it says %s: %w", line, err)
		}
		switch event.Type {
		case "thread.started":
			r.Thread = event.Thread
		case "turn.started":
			return nil
		}
	}
	return fmt.Errorf("it says %s and %s", r.stdout.Bytes(), r.stderr.Bytes())
}

// Signal signals it.
func (r *Run) Signal(sig os.Signal) {
	r.home.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.home.t.Fatalf("signal codex exec: %v", err)
	}
}

// Ends waits until it has ended, which is to be with that exit code, -1 for an end by a signal.
func (r *Run) Ends(code int) {
	r.home.t.Helper()
	r.home.Until("codex exec has ended", func() error {
		select {
		case <-r.ended:
			return nil
		default:
			return errors.New("it runs")
		}
	})
	if r.cmd.ProcessState.ExitCode() != code {
		r.home.t.Errorf("codex exec: %s, want exit code %d: %s", r.cmd.ProcessState, code, r.stderr.Bytes())
	}
}
