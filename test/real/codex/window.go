package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Window is a client in a terminal.
type Window struct {
	PID    int
	Thread string // the one that it has at first

	home *Home
	name string // of its tmux session
}

// Opening says what is behind a window.
type Opening string

// The ways of opening a window.
const (
	Shared Opening = ""            // the daemon, which is started if there is none
	Alone  Opening = "--no-daemon" // nothing: the window has its threads itself
)

// Open opens a window, and returns when it has a thread and takes input.
func (h *Home) Open(o Opening) *Window {
	h.t.Helper()
	before := h.held()
	w := h.Start(o)
	w.Thread = h.another(before)
	w.Shows("default · ~/" + filepath.Base(h.Cwd)) // an input that is there before this line loses what is typed
	return w
}

// Start opens a window that may have no thread yet.
func (h *Home) Start(o Opening) *Window {
	h.t.Helper()
	w := &Window{home: h, name: fmt.Sprintf("w%d", len(h.windows))}
	h.windows = append(h.windows, w)
	args := []string{
		"new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", w.name, "-x", "160", "-y", "50", "-c", h.Cwd, "--", h.client.path,
	}
	if o != Shared {
		args = append(args, string(o))
	}
	args = append(args, ";", "set-option", "-g", "remain-on-exit", "on") // what a client says at its end is to be seen
	out, err := h.tmux(h.t.Context(), args...)
	if err != nil {
		h.t.Fatalf("open a window: %v: %s", err, out)
	}
	if w.PID, err = strconv.Atoi(strings.TrimSpace(out)); err != nil {
		h.t.Fatalf("open a window: its pid: %v", err)
	}
	return w
}

// tmux asks the home's own tmux server.
func (h *Home) tmux(ctx context.Context, args ...string) (string, error) {
	out, err := h.command(ctx, "tmux", append([]string{"-L", filepath.Base(h.Dir), "-f", "/dev/null"}, args...)...).CombinedOutput()
	return string(out), err
}

func (h *Home) serverRuns(ctx context.Context) bool {
	_, err := h.tmux(ctx, "list-sessions")
	return err == nil
}

func (w *Window) send(args ...string) {
	w.home.t.Helper()
	if out, err := w.home.tmux(w.home.t.Context(), append([]string{"send-keys", "-t", w.name}, args...)...); err != nil {
		w.home.t.Fatalf("send keys to window %s: %v: %s", w.name, err, out)
	}
}

// Press presses keys one after the other, by tmux's names for them.
func (w *Window) Press(keys ...string) {
	w.home.t.Helper()
	w.send(keys...)
}

// Type types text into the prompt, and Enter once it is there: a client takes what comes in one piece for a paste.
func (w *Window) Type(text string) {
	w.home.t.Helper()
	before := w.count(text)
	w.send("-l", "--", text)
	w.home.Until("window "+w.name+" shows what is typed", func() error {
		if w.count(text) <= before {
			return fmt.Errorf("no %q", text)
		}
		return nil
	})
	w.send("Enter")
}

func (w *Window) screen(ctx context.Context) (string, error) {
	return w.home.tmux(ctx, "capture-pane", "-p", "-t", w.name)
}

// count is how often text is on the screen, wherever its lines are broken.
func (w *Window) count(text string) int {
	screen, err := w.screen(w.home.t.Context())
	if err != nil {
		return 0
	}
	return strings.Count(squeeze(screen), squeeze(text))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// Shows waits until text is on the screen.
func (w *Window) Shows(text string) {
	w.home.t.Helper()
	w.home.Until("window "+w.name+" shows "+text, func() error {
		if w.count(text) == 0 {
			return errors.New("it does not")
		}
		return nil
	})
}

// Quit ends the client as its user does, and returns when it is gone.
func (w *Window) Quit() {
	w.home.t.Helper()
	p, ok := find(w.PID)
	w.Type("/quit")
	if ok {
		w.home.gone(p)
	}
}

// Kill ends the client as kill -9 does, and returns when it is gone.
func (w *Window) Kill() {
	w.home.t.Helper()
	if p, ok := find(w.PID); ok {
		w.home.kill(p)
	}
}
