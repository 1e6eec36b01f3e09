package codex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of this file hold up what all others here rest on: that the driver makes the real client do what it says,
// and that a thread's lock and rollout tell what the client does.

func TestClientExecWorksAndEnds(t *testing.T) {
	h := NewHome(t, Installed(t))
	r := h.Exec("HOLD[turn]")
	h.Becomes(r.Thread, State{Lock: true, Holder: r.PID, Turn: Started})
	h.Model.Release("turn")
	r.Ends(0)
	h.Becomes(r.Thread, State{Turn: Completed})
	rollout, err := h.Rollout(r.Thread)
	if err != nil {
		t.Fatal(err)
	}
	want := Rollout{
		Thread: r.Thread, Root: r.Thread, Cwd: h.Cwd, Originator: "codex_exec", Source: []byte(`"exec"`), Kind: "user",
		Version: Version, Turn: Completed,
	}
	if d := cmp.Diff(want, rollout); d != "" {
		t.Errorf("rollout (-want +got):\n%s", d)
	}
}

func TestClientExecIsEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		by   os.Signal
		code int
		left State
	}{
		"by INT":  {os.Interrupt, 1, State{Turn: Aborted}},
		"by TERM": {syscall.SIGTERM, -1, State{Lock: true, Turn: Started}},
		"by -9":   {os.Kill, -1, State{Lock: true, Turn: Started}},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			r := h.Exec("HOLD[turn]")
			h.Becomes(r.Thread, State{Lock: true, Holder: r.PID, Turn: Started})
			r.Signal(tc.by)
			r.Ends(tc.code)
			h.Becomes(r.Thread, tc.left)
			next := h.Exec("hello") // takes away what the dead have left
			next.Ends(0)
			h.Becomes(r.Thread, State{Turn: tc.left.Turn})
		})
	}
}

func TestClientExecLeavesNoTrace(t *testing.T) {
	h := NewHome(t, Installed(t))
	r := h.Exec("HOLD[turn]", "--ephemeral")
	h.Becomes(r.Thread, State{})
	h.Model.Release("turn")
	r.Ends(0)
	for _, name := range []string{"thread-writer-locks", "sessions"} {
		if _, err := os.Stat(filepath.Join(h.Codex(), name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want none", name, err)
		}
	}
}

func TestClientWindowWorksAndQuits(t *testing.T) {
	for name, tc := range map[string]struct {
		opening Opening
		source  string
	}{
		"alone":         {Alone, `"cli"`},
		"with a daemon": {Shared, `"vscode"`},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			w := h.Open(tc.opening)
			holder := w.PID
			if tc.opening == Shared {
				holder = h.Daemon()
			}
			h.Becomes(w.Thread, State{Lock: true, Holder: holder})
			if _, err := h.Rollout(w.Thread); !errors.Is(err, errNoRollout) {
				t.Errorf("rollout before the first prompt: %v, want none", err)
			}
			w.Type("HOLD[turn]")
			h.Becomes(w.Thread, State{Lock: true, Holder: holder, Turn: Started})
			h.Model.Release("turn")
			h.Becomes(w.Thread, State{Lock: true, Holder: holder, Turn: Completed})
			rollout, err := h.Rollout(w.Thread)
			if err != nil || rollout.Originator != "codex-tui" || string(rollout.Source) != tc.source {
				t.Errorf("rollout %+v, %v, want it of codex-tui, source %s", rollout, err, tc.source)
			}
			w.Quit()
			if tc.opening == Shared {
				now, err := h.State(w.Thread)
				if want := (State{Lock: true, Holder: holder, Turn: Completed}); err != nil || now != want {
					t.Errorf("within the delay: %+v, %v, want %+v", now, err, want)
				}
			}
			h.Becomes(w.Thread, State{Turn: Completed})
		})
	}
}

func TestClientWindowIsKilledInATurn(t *testing.T) {
	for name, opening := range map[string]Opening{"alone": Alone, "with a daemon": Shared} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			w := h.Open(opening)
			w.Type("HOLD[turn]")
			h.UntilTurn(w.Thread, Started)
			w.Kill()
			if opening == Alone {
				h.Becomes(w.Thread, State{Lock: true, Turn: Started})
				return
			}
			h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon(), Turn: Started})
			h.Model.Release("turn") // it goes on to its end
			h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon(), Turn: Completed})
			h.Becomes(w.Thread, State{Turn: Completed})
		})
	}
}

func TestClientDaemonIsKilled(t *testing.T) {
	h := NewHome(t, Installed(t))
	w, other := h.Open(Shared), h.Open(Shared)
	w.Type("HOLD[turn]")
	h.UntilTurn(w.Thread, Started)
	h.Becomes(other.Thread, State{Lock: true, Holder: h.Daemon()})
	h.KillDaemon()
	h.Becomes(w.Thread, State{Lock: true, Turn: Started})
	h.Becomes(other.Thread, State{Lock: true})
	w.Shows("Reconnecting to server")
}

// question is what a window shows when it asks for an approval.
const question = "Would you like to run the following command?"

func TestClientAsksForApproval(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := h.Open(Shared)
	w.Type("RUN[touch done-it] THEN[rest]")
	w.Shows(question)
	h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon(), Turn: Started}) // nothing more can be seen of it
	w.Press("Enter")
	h.Until("the command has run", func() error {
		_, err := os.Stat(filepath.Join(h.Cwd, "done-it"))
		return err
	})
	h.Model.Release("rest")
	h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon(), Turn: Completed})
}

func TestClientStartsASubAgent(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := h.Open(Shared)
	w.Type("SPAWN[helper] THEN[rest]")
	child := h.another([]string{w.Thread})
	for _, thread := range []string{w.Thread, child} {
		h.Becomes(thread, State{Lock: true, Holder: h.Daemon(), Turn: Started})
	}
	rollout, err := h.Rollout(child)
	if err != nil || rollout.Parent != w.Thread || rollout.Root != w.Thread || rollout.Kind != "subagent" || rollout.Nickname == "" {
		t.Errorf("rollout %+v, %v, want a sub-agent's, with a nickname, of %s", rollout, err, w.Thread)
	}
	h.Model.Release("rest")
	h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon(), Turn: Completed})
	w.Quit()
	h.Becomes(w.Thread, State{Turn: Completed})
	h.Becomes(child, State{Lock: true, Holder: h.Daemon(), Turn: Started}) // nobody shows it, and it works
	h.Model.Release("helper")
	h.Becomes(child, State{Lock: true, Holder: h.Daemon(), Turn: Completed})
	h.Becomes(child, State{Turn: Completed})
}

func TestClientWindowOpensASecondThread(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := h.Open(Alone)
	w.Type("hello")
	h.UntilTurn(w.Thread, Completed)
	w.Type("/new")
	second := h.another([]string{w.Thread})
	h.Becomes(w.Thread, State{Lock: true, Holder: w.PID, Turn: Completed})
	h.Becomes(second, State{Lock: true, Holder: w.PID})
	h.Becomes(w.Thread, State{Turn: Completed}) // the delay is over
	h.Becomes(second, State{Lock: true, Holder: w.PID})
	w.Quit()
	h.Becomes(second, State{})
}

func TestClientExecBesideADaemon(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := h.Open(Shared)
	r := h.Exec("HOLD[turn]")
	h.Becomes(r.Thread, State{Lock: true, Holder: r.PID, Turn: Started})
	locks, err := h.Locks()
	if d := cmp.Diff(map[string]int{w.Thread: h.Daemon(), r.Thread: r.PID}, locks); d != "" || err != nil {
		t.Errorf("locks (-want +got, %v):\n%s", err, d)
	}
	h.Model.Release("turn")
	r.Ends(0)
	h.Becomes(r.Thread, State{Turn: Completed})
	h.Becomes(w.Thread, State{Lock: true, Holder: h.Daemon()})
}

// TestClientOfANewUser has the first window make the copy of the program, from which the daemon starts, and start what
// looks for updates of it.
func TestClientOfANewUser(t *testing.T) {
	h := NewHome(t, Installed(t))
	h.Fresh()
	w := h.Start(Shared)
	w.Shows("Use existing model")
	h.Until("there are a daemon and what looks for updates", func() error {
		for _, file := range []string{daemonFile, updaterFile} {
			if p, ok := h.named(file); !ok || !strings.Contains(p.args, h.Codex()) {
				return fmt.Errorf("%s names %s", file, p)
			}
		}
		return nil
	})
	if locks, err := h.Locks(); err != nil || len(locks) != 0 {
		t.Errorf("locks before the question is answered: %v, %v, want none", locks, err)
	}
	h.Until("the question is answered", func() error { // keys that come as soon as it is shown may be lost
		if w.count("Use existing model") == 0 {
			return nil
		}
		w.Press("Enter")
		return errors.New("it is still asked")
	})
	h.Becomes(h.another(nil), State{Lock: true, Holder: h.Daemon()})
}
