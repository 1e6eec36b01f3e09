package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"peerbus/test/real/codex/standin"
	serve "peerbus/test/real/standin"
)

// UnloadDelay is for how long a thread that nobody shows any more stays open; by default it is a minute.
const UnloadDelay = 5 * time.Second

// Home is a user's home in which Codex runs, with a model and a tmux server of its own. Nothing of the real user's
// environment reaches it. It may be used by the test's goroutine only.
type Home struct {
	Dir   string // $HOME
	Cwd   string // the trusted folder in which every thread works
	Model *standin.Model

	t       testing.TB
	client  Client
	env     []string
	config  string // without the answers
	windows []*Window
}

// NewHome makes a home that c has not run in. At the end of the test all that runs in it is ended, and the test fails
// if something does not end by being asked to.
//
// A daemon starts from a copy of the program, which the first window makes. This home has the installed program in
// that place, since the copy takes 424 MB and some seconds; [Home.Fresh] undoes it.
func NewHome(t testing.TB, c Client) *Home {
	t.Helper()
	// t.TempDir has the test's name in its path, and the path of a socket may have 104 bytes only.
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatalf("make a home: %v", err)
	}
	h := &Home{Dir: dir, Cwd: filepath.Join(dir, "proj"), Model: &standin.Model{}, t: t, client: c}
	t.Cleanup(h.remove)
	tmp := filepath.Join(dir, "tmp")
	h.env = []string{
		"HOME=" + h.Dir, "CODEX_HOME=" + h.Codex(), "TMPDIR=" + tmp, "TMUX_TMPDIR=" + tmp,
		"PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/bash", "TERM=xterm-256color", "LANG=C.UTF-8",
		"STANDIN_KEY=none",
	}
	h.config = fmt.Sprintf(config, int(UnloadDelay.Seconds()), serve.Serve(t, h.Model), h.Cwd)
	if err := h.prepare(tmp); err != nil {
		t.Fatalf("make a home: %v", err)
	}
	t.Cleanup(h.end)
	return h
}

// Codex is the folder in which Codex keeps everything.
func (h *Home) Codex() string { return filepath.Join(h.Dir, ".codex") }

// config says where the model is, and what is trusted.
const config = `model = "gpt-5.6-sol"
model_provider = "standin"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
thread_unload_delay_secs = %d

[model_providers.standin]
name = "standin"
base_url = "%s/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"

[projects."%s"]
trust_level = "trusted"
`

// answers are those to what a window asks its user in a new home: to take a newer model.
const answers = `
[notice.model_migrations]
"gpt-5.6-sol" = "gpt-6-sol"
`

func (h *Home) prepare(tmp string) error {
	for _, dir := range []string{h.Cwd, tmp, filepath.Dir(h.installed())} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(h.client.release(), h.installed()); err != nil {
		return err
	}
	return os.WriteFile(h.configFile(), []byte(h.config+answers), 0o600)
}

func (h *Home) configFile() string { return filepath.Join(h.Codex(), "config.toml") }

// installed is where the program is that a daemon starts from.
func (h *Home) installed() string {
	return filepath.Join(h.Codex(), "packages", "app-server-daemon", "current")
}

// Fresh makes the home as a new user has it: the first window asks a question, and the first that wants a daemon copies
// the program and starts what looks for updates of the copy.
func (h *Home) Fresh() {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.Codex(), "packages")); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.configFile(), []byte(h.config), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// command is a program that runs in this home, with its environment and none else, until ctx ends.
func (h *Home) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = h.Cwd, h.env
	return cmd
}

// end ends all that runs in the home: windows first, since they start a daemon where there is none.
func (h *Home) end() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.t.Context()), patience)
	defer cancel()
	if h.t.Failed() {
		h.t.Logf("in the home at the end:\n%s", h.dump(ctx))
	}
	if len(h.windows) > 0 {
		if out, err := h.tmux(ctx, "kill-server"); err != nil && h.serverRuns(ctx) {
			h.t.Errorf("end the tmux server: %v: %s", err, out)
		}
	}
	h.endDaemon(ctx)
	h.endLeftovers(ctx)
	h.removeSockets()
}

// endLeftovers waits until nothing runs in the home any more. What stays is ended by force, and is a failure.
func (h *Home) endLeftovers(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		left := running(h.Codex())
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
			if err := p.signal(os.Kill); err != nil {
				h.t.Errorf("end %d by force: %v", p.pid, err)
			}
		}
		h.Until("they are gone", func() error {
			if left := running(h.Codex()); len(left) > 0 {
				return errors.New(left[0].String())
			}
			return nil
		})
		return
	}
}

func (h *Home) remove() {
	if err := os.RemoveAll(h.Dir); err != nil {
		h.t.Errorf("remove the home: %v", err)
	}
}
