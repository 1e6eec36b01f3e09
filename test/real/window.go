package real

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Window is a client in a terminal.
type Window struct {
	PID int

	home *Home
	name string // of its tmux session
}

// Opening says how a window is opened.
type Opening struct {
	Name   string // the session's name; "" lets the client choose one
	Resume string // a session to go on with
	InTmux bool   // the client can see that it runs in tmux
}

// Open opens a window in which every use of a tool is asked about, and returns when it takes input.
func (h *Home) Open(c Client, o Opening) *Window {
	h.t.Helper()
	h.uses(c)
	var args []string
	if !o.InTmux {
		args = append(args, "env", "-u", "TMUX", "-u", "TMUX_PANE")
	}
	args = append(args, c.path, "--permission-mode", "manual")
	if o.Name != "" {
		args = append(args, "--name", o.Name)
	}
	if o.Resume != "" {
		args = append(args, "--resume", o.Resume)
	}
	w := &Window{home: h, name: fmt.Sprintf("w%d", len(h.windows))}
	h.windows = append(h.windows, w)
	out, err := h.tmux(h.t.Context(), append([]string{
		"new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", w.name, "-x", "160", "-y", "50", "-c", h.Cwd, "--",
	}, args...)...)
	if err != nil {
		h.t.Fatalf("open a window: %v: %s", err, out)
	}
	if w.PID, err = strconv.Atoi(strings.TrimSpace(out)); err != nil {
		h.t.Fatalf("open a window: its pid: %v", err)
	}
	w.Until("it is idle", Status("idle", ""))
	w.Shows("manual mode on")
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

// Press presses keys one after the other, by tmux's names for them: Enter, Escape, Left, C-c.
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

// pane is where the window is, as a client in tmux writes it down: "session:@window.%pane".
func (w *Window) pane() string {
	w.home.t.Helper()
	out, err := w.home.tmux(w.home.t.Context(), "display-message", "-p", "-t", w.name, "#{session_name}:#{window_id}.#{pane_id}")
	if err != nil {
		w.home.t.Fatalf("find the pane of window %s: %v: %s", w.name, err, out)
	}
	return strings.TrimSpace(out)
}

func (w *Window) screen() (string, error) {
	return w.home.tmux(w.home.t.Context(), "capture-pane", "-p", "-t", w.name)
}

// count is how often text is on the screen, wherever its lines are broken.
func (w *Window) count(text string) int {
	screen, err := w.screen()
	if err != nil {
		return 0
	}
	return strings.Count(squeeze(screen), squeeze(text))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// Shows waits until text is on the screen.
func (w *Window) Shows(text string) {
	w.home.t.Helper()
	w.ShowsTimes(1, text)
}

// ShowsTimes waits until text is on the screen n times or more.
func (w *Window) ShowsTimes(n int, text string) {
	w.home.t.Helper()
	w.home.Until(fmt.Sprintf("window %s shows %q %d times", w.name, text, n), func() error {
		if got := w.count(text); got < n {
			return fmt.Errorf("it does %d times", got)
		}
		return nil
	})
}

// Quit ends the client as its user does, and returns when it is gone.
func (w *Window) Quit() {
	w.home.t.Helper()
	w.Type("/exit")
	w.gone()
}

// Leave ends a client that shows its background sessions, which stay.
func (w *Window) Leave() {
	w.home.t.Helper()
	w.Press("C-c", "C-c")
	w.gone()
}

// Kill ends the client as kill -9 does, and returns when it is gone.
func (w *Window) Kill() {
	w.home.t.Helper()
	r := w.Record()
	if err := (process{pid: r.PID, start: r.ProcStart}).kill(); err != nil {
		w.home.t.Fatalf("kill window %s: %v", w.name, err)
	}
	w.gone()
}

// gone waits until the client has ended.
func (w *Window) gone() {
	w.home.t.Helper()
	w.home.Until("window "+w.name+" is closed", func() error {
		if state, _ := stat(w.PID); state != "" && state != "Z" {
			return fmt.Errorf("process %d is in state %s", w.PID, state)
		}
		return nil
	})
}
