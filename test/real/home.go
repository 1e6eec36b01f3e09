package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"peerbus/test/real/standin"
)

// Home is a user's home in which clients run, with a model and a tmux server of its own. Nothing of the real user's
// environment reaches it. It may be used by the test's goroutine only.
type Home struct {
	Dir   string // $HOME
	Cwd   string // the trusted folder in which every session works
	Model *standin.Model

	t       testing.TB
	env     []string
	windows []*Window
	clients []Client
}

// apiKey is no key: it has the form that the client wants to see.
const apiKey = "sk-ant-api03-dummy-dummy-dummy"

// NewHome makes an empty home. At the end of the test all that runs in it is ended, and the test fails if something
// does not end by being asked to.
func NewHome(t testing.TB) *Home {
	t.Helper()
	// t.TempDir has the test's name in its path, and the path of a socket may have 104 bytes only.
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatalf("make a home: %v", err)
	}
	h := &Home{Dir: dir, Cwd: filepath.Join(dir, "proj"), Model: &standin.Model{}, t: t}
	t.Cleanup(h.remove)
	for _, sub := range []string{h.Cwd, h.Claude(), h.tmp()} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatalf("make a home: %v", err)
		}
	}
	h.env = []string{
		"HOME=" + h.Dir, "TMPDIR=" + h.tmp(), "TMUX_TMPDIR=" + h.tmp(),
		"PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/bash", "TERM=xterm-256color", "LANG=C.UTF-8",
		"ANTHROPIC_API_KEY=" + apiKey, "ANTHROPIC_BASE_URL=" + standin.Serve(t, h.Model),
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "IS_SANDBOX=1",
	}
	if err := h.greet(); err != nil {
		t.Fatalf("answer the first questions: %v", err)
	}
	t.Cleanup(h.end)
	return h
}

// Claude is the folder in which clients keep their registry.
func (h *Home) Claude() string { return filepath.Join(h.Dir, ".claude") }

func (h *Home) tmp() string { return filepath.Join(h.Dir, "tmp") }

// greet writes down the answers to what a client asks in a new home: theme, key and trust.
func (h *Home) greet() error {
	type keys struct {
		Approved []string `json:"approved"`
		Rejected []string `json:"rejected"`
	}
	type project struct {
		Trusted bool     `json:"hasTrustDialogAccepted"`
		Allowed []string `json:"allowedTools"`
	}
	data, err := json.Marshal(struct {
		Done     bool               `json:"hasCompletedOnboarding"`
		Theme    string             `json:"theme"`
		Version  string             `json:"lastOnboardingVersion"`
		Keys     keys               `json:"customApiKeyResponses"`
		Projects map[string]project `json:"projects"`
	}{
		Done: true, Theme: "dark", Version: Recent,
		Keys:     keys{Approved: []string{apiKey[len(apiKey)-20:]}, Rejected: []string{}},
		Projects: map[string]project{h.Cwd: {Trusted: true, Allowed: []string{}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.Dir, ".claude.json"), data, 0o600)
}

// command is a program that runs in this home, with its environment and none else.
func (h *Home) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = h.Cwd, h.env
	return cmd
}

// run runs a client that ends by itself, and returns what it prints.
func (h *Home) run(c Client, args ...string) ([]byte, error) {
	h.uses(c)
	out, err := h.command(h.t.Context(), c.path, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("run claude %v: %w", args, explain(err))
	}
	return out, nil
}

// explain adds what a program said of its failure.
func explain(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// uses remembers whose background sessions there may be to end.
func (h *Home) uses(c Client) {
	if !slices.Contains(h.clients, c) {
		h.clients = append(h.clients, c)
	}
}

// end ends all that runs in the home. Windows go first, since one that shows its background sessions starts the
// supervisor anew.
func (h *Home) end() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), patience)
	defer cancel()
	if len(h.windows) > 0 {
		if out, err := h.tmux(ctx, "kill-server"); err != nil && h.serverRuns(ctx) {
			h.t.Errorf("end the tmux server: %v: %s", err, out)
		}
	}
	for _, c := range h.clients {
		if _, err := os.Stat(filepath.Join(h.Claude(), "daemon.lock")); err != nil {
			break // there is no supervisor, or there is none any more
		}
		if out, err := h.command(ctx, c.path, "daemon", "stop", "--any").CombinedOutput(); err != nil {
			h.t.Errorf("end the background sessions: %v: %s", err, out)
		}
	}
	h.endLeftovers(ctx)
}

// endLeftovers waits until nothing runs in the home any more. What stays is ended by force, and is a failure.
func (h *Home) endLeftovers(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		left := running(h.Dir)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		for _, p := range left {
			h.t.Errorf("still running at the end: %s", p)
			if err := p.kill(); err != nil {
				h.t.Errorf("end %d by force: %v", p.pid, err)
			}
		}
		return
	}
}

func (h *Home) remove() {
	if err := os.RemoveAll(h.Dir); err != nil {
		h.t.Errorf("remove the home: %v", err)
	}
}
