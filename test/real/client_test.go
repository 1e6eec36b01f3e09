package real

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The tests of this file hold up what all others here rest on: that the driver makes real clients do what it says,
// and that both ways of reading what they did agree.

// each runs a case on every version, in a home of its own.
func each(t *testing.T, run func(t *testing.T, h *Home, c Client)) {
	t.Helper()
	for _, c := range []Client{Installed(t, Recent), Installed(t, Old)} {
		t.Run(c.Version, func(t *testing.T) { run(t, NewHome(t), c) })
	}
}

// agree waits until the registry and the client's own list hold the same sessions, and that many.
func agree(t *testing.T, h *Home, c Client, sessions int) {
	t.Helper()
	h.Until("the registry holds what the client lists", func() error {
		live, err := h.Live()
		if err != nil {
			return err
		}
		agents, err := h.Agents(c)
		if err != nil {
			return err
		}
		if len(live) != sessions {
			return fmt.Errorf("%d live sessions, want %d", len(live), sessions)
		}
		var rows []Row
		for _, r := range live {
			rows = append(rows, r.Row())
		}
		return Same(agents, rows)
	})
}

func TestClientWorksAndQuits(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		agree(t, h, c, 0)
		w := h.Open(c, Opening{})
		agree(t, h, c, 1)
		r := w.Record()
		if r.Version != c.Version || r.Kind != "interactive" || r.Entrypoint != "cli" || r.Cwd != h.Cwd || r.NameSource != "derived" || r.Tmux != "" {
			t.Errorf("record %+v", r)
		}
		if !regexp.MustCompile(`^linux:[0-9a-f]{32}:pid:\[[0-9]+\]$`).MatchString(r.Domain) {
			t.Errorf("pid domain %q", r.Domain)
		}
		if want := filepath.Join(h.tmp(), "cc-socks", filepath.Base(r.Socket)); r.Socket != want {
			t.Errorf("socket %q, want one in %q", r.Socket, filepath.Dir(want))
		}
		w.Type("HOLD[turn]")
		w.Until("it is busy", Status("busy", ""))
		agree(t, h, c, 1)
		h.Model.Release("turn")
		w.Until("it is idle", Status("idle", ""))
		agree(t, h, c, 1)
		w.Quit()
		agree(t, h, c, 0)
		if records, err := h.Registry(); err != nil || len(records) != 0 {
			t.Errorf("after it has quit: %+v, %v, want no record", records, err)
		}
	})
}

func TestClientIsAskedForPermission(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{})
		w.Type("RUNBASH[touch done-it] THEN[rest]")
		w.Until("it waits", Status("waiting", "permission prompt"))
		agree(t, h, c, 1)
		w.Accept()
		w.Until("it is busy", Status("busy", ""))
		h.Model.Release("rest")
		w.Until("it is idle", Status("idle", ""))
		agree(t, h, c, 1)
		if _, err := os.Stat(filepath.Join(h.Cwd, "done-it")); err != nil {
			t.Errorf("the command has not run: %v", err)
		}
	})
}

func TestClientAsksByAMenu(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{})
		w.Type("ASKMENU THEN[rest]")
		w.Until("it waits", Status("waiting", "input needed"))
		agree(t, h, c, 1)
		w.Accept()
		w.Until("it is busy", Status("busy", ""))
		h.Model.Release("rest")
		w.Until("it is idle", Status("idle", ""))
		agree(t, h, c, 1)
	})
}

// shell runs in the background until the file "go" is there. It changes nothing, so that no permission is asked for.
const shell = "BGSHELL[until test -e go; do sleep 0.1; done]"

func TestClientLeavesABackgroundShell(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{})
		w.Type(shell)
		w.Until("the shell runs", Status("shell", ""))
		agree(t, h, c, 1)
		endShell(t, h)
		w.Until("the shell has ended", Status("idle", ""))
		agree(t, h, c, 1)
	})
}

func endShell(t *testing.T, h *Home) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.Cwd, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestClientIsRenamed(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{Name: "first"})
		w.Until("it is named", Named("first"))
		w.Type("/rename second one")
		r := w.Until("it is renamed", Named("second one"))
		if r.NameSource != "user" {
			t.Errorf("name source %q, want user", r.NameSource)
		}
		agree(t, h, c, 1)
	})
}

func TestClientIsKilled(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{})
		w.Type("HOLD[turn]")
		r := w.Until("it is busy", Status("busy", ""))
		w.Kill()
		agree(t, h, c, 0)
		left, err := h.Registry()
		if err != nil || len(left) != 1 || left[0] != r {
			t.Errorf("the registry after kill -9: %+v, %v, want the last record still", left, err)
		}
		if _, err := os.Stat(r.Socket); err != nil {
			t.Errorf("the socket after kill -9: %v, want it still there", err)
		}
	})
}

func TestClientClears(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{Name: "keeps its name"})
		w.Type("hello")
		w.Shows("● ok")
		before := w.Until("it is idle", Status("idle", ""))
		w.Type("/clear")
		after := w.Until("it has another session", notIn(before.Session))
		if after.Name != before.Name {
			t.Errorf("name %q, want %q", after.Name, before.Name)
		}
		agree(t, h, c, 1)
	})
}

func notIn(session string) Want {
	return func(r Record) error {
		if r.Session == session {
			return errors.New("still in session " + session)
		}
		return nil
	}
}

func TestClientResumesASessionThatIsOpen(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		first := h.Open(c, Opening{})
		first.Type("hello")
		first.Shows("● ok")
		session := first.Until("it is idle", Status("idle", "")).Session
		second := h.Open(c, Opening{Resume: session})
		if got := second.Record().Session; got != session {
			t.Errorf("the second window is in session %s, want %s", got, session)
		}
		agree(t, h, c, 2)
		first.Quit()
		agree(t, h, c, 1)
	})
}

func TestClientIsMovedToTheBackgroundAndOpenedAgain(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{Name: "moved"})
		before := w.Record()
		w.Type("HOLD[turn]")
		w.Until("it is busy", Status("busy", ""))
		id := w.Park()
		job := h.Job(id, "it is busy", Status("busy", ""))
		if job.Kind != "bg" || job.Name != "moved" || job.Session == before.Session {
			t.Errorf("job %+v after window %+v", job, before)
		}
		if r := w.Record(); r.Session != before.Session {
			t.Errorf("the parked window is in session %s, want %s as before", r.Session, before.Session)
		}
		agree(t, h, c, 1)
		h.Model.Release("turn")
		h.Job(id, "it is idle", Status("idle", ""))
		agree(t, h, c, 1)

		w.Press("Enter")
		w.Shows("manual mode on")
		if r := w.Record(); r.Parked != id {
			t.Errorf("the window that shows its job again: %+v, want it parked still", r)
		}
		w.Type("HOLD[again]")
		h.Job(id, "it is busy", Status("busy", ""))
		agree(t, h, c, 1)
		h.Model.Release("again")
		h.Job(id, "it is idle", Status("idle", ""))
		agree(t, h, c, 1)
	})
}

func TestClientWorksInTheBackground(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		id := h.Background(c, "HOLD[turn]")
		r := h.Job(id, "it is busy", Status("busy", ""))
		if r.Kind != "bg" || r.Cwd != h.Cwd {
			t.Errorf("record %+v", r)
		}
		agree(t, h, c, 1)
		h.Model.Release("turn")
		h.Job(id, "it is idle", Status("idle", ""))
		agree(t, h, c, 1)
		h.Stop(c, id)
		agree(t, h, c, 0)
	})
}

func TestClientInTmuxSaysWhere(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := h.Open(c, Opening{InTmux: true})
		if got, want := w.Record().Tmux, w.pane(); got != want {
			t.Errorf("tmux %q, want %q", got, want)
		}
		agree(t, h, c, 1)
	})
}

func TestClientsOfTwoVersions(t *testing.T) {
	recent, old := Installed(t, Recent), Installed(t, Old)
	h := NewHome(t)
	a, b := h.Open(recent, Opening{}), h.Open(old, Opening{})
	if va, vb := a.Record().Version, b.Record().Version; va != Recent || vb != Old {
		t.Errorf("versions %s and %s, want %s and %s", va, vb, Recent, Old)
	}
	agree(t, h, recent, 2)
	agree(t, h, old, 2)
	b.Quit()
	agree(t, h, recent, 1)
}
