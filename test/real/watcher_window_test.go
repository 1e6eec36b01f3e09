package real

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

func TestWatcherSeesAWindowOpenWorkAndQuit(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		w.agrees(c, 0)
		win := w.open(c, "window", Opening{})
		w.tells("window appeared: idle")
		w.agrees(c, 1)
		win.Type("HOLD[turn]")
		w.tells("window: busy")
		w.agrees(c, 1)
		h.Model.Release("turn")
		w.tells("window: idle")
		w.agrees(c, 1)
		win.Quit()
		w.tells("window gone: exited")
		w.agrees(c, 0)
	})
}

// open opens a window that the story calls name.
func (w *watcher) open(c Client, name string, o Opening) *Window {
	w.t.Helper()
	win := w.home.Open(c, o)
	w.call(name, win.PID)
	return win
}

func TestWatcherSeesAPermissionAskedForAndGiven(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{})
		w.tells("window appeared: idle")
		win.Type("HOLD[turn] RUNBASH[touch done-it] THEN[rest]")
		w.tells("window: busy")
		h.Model.Release("turn")
		w.tells("window: waiting for permission prompt")
		w.agrees(c, 1)
		win.Accept()
		w.tells("window: busy")
		w.agrees(c, 1)
		h.Model.Release("rest")
		w.tells("window: idle")
		w.agrees(c, 1)
	})
}

func TestWatcherSeesAMenuShownAndAnswered(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{})
		w.tells("window appeared: idle")
		win.Type("HOLD[turn] ASKMENU THEN[rest]")
		w.tells("window: busy")
		h.Model.Release("turn")
		w.tells("window: waiting for input needed")
		w.agrees(c, 1)
		win.Accept()
		w.tells("window: busy")
		h.Model.Release("rest")
		w.tells("window: idle")
		w.agrees(c, 1)
	})
}

func TestWatcherSeesABackgroundShellLeft(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{})
		w.tells("window appeared: idle")
		win.Type("HOLD[turn] " + shell)
		w.tells("window: busy")
		h.Model.Release("turn")
		w.tells("window: idle/shell")
		w.agrees(c, 1)
		endShell(t, h)
		win.ShowsTimes(2, "● done") // the client tells the model of the end, which has a word to say to that
		win.Until("it is idle", Status("idle", ""))
		w.agrees(c, 1)
		w.tellsLike("(window: idle\n)?(window: busy\n)?window: idle\n")
	})
}

func TestWatcherSeesAWindowRenamed(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{Name: "first"})
		w.tells("window appeared: idle")
		win.Type("/rename second one")
		win.Shows("Session renamed to: second one")
		win.Until("it is idle", Status("idle", ""))
		w.agrees(c, 1)
		// A command is a short turn, which may begin in the rewrite that brings the name.
		w.tellsLike("(window: busy\n)?window renamed: first to second one\n(window: busy\n)?(window: idle\n)?")
	})
}

func TestWatcherSeesAWindowKilled(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{})
		w.tells("window appeared: idle")
		win.Type("HOLD[turn]")
		w.tells("window: busy")
		win.Kill()
		w.tells("window gone: died")
		w.agrees(c, 0)
	})
}

func TestWatcherSeesAClear(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{Name: "keeps its name"})
		w.tells("window appeared: idle")
		before := win.Record()
		win.Type("/clear")
		after := win.Until("it has another session", notIn(before.Session))
		win.Until("it is idle", Status("idle", ""))
		w.agrees(c, 1)
		w.tellsLike("(window: busy\n)?window gone: switched\nwindow appeared: (idle|busy)\n(window: busy\n)?(window: idle\n)?")
		gone := last[events.PeerGone](w)
		if gone.Peer.Session != before.Session || gone.Successor != (events.Ref{Session: after.Session, Instance: gone.Peer.Instance()}) {
			t.Errorf("gone from session %s to %+v, want from %s to %s", gone.Peer.Session, gone.Successor, before.Session, after.Session)
		}
	})
}

// last is the last event of its type.
func last[E events.Event](w *watcher) E {
	w.t.Helper()
	log, err := w.log()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range slices.Backward(log) {
		if e, ok := l.Event.(E); ok {
			return e
		}
	}
	var none E
	w.t.Fatalf("there is no %T in the log", none)
	return none
}

func TestWatcherSeesASessionResumedInASecondWindow(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		first := w.open(c, "first", Opening{})
		w.tells("first appeared: idle")
		first.Type("HOLD[turn]") // a session without a turn cannot be resumed
		w.tells("first: busy")
		h.Model.Release("turn")
		w.tells("first: idle")
		session := first.Record().Session
		second := w.open(c, "second", Opening{Resume: session})
		w.tells("second appeared: idle")
		w.agrees(c, 2)
		if got := last[events.PeerAppeared](w).Peer; got.Session != session || got.PID != second.PID {
			t.Errorf("appeared as session %s of process %d, want %s of %d", got.Session, got.PID, session, second.PID)
		}
		first.Quit()
		w.tells("first gone: exited")
		w.agrees(c, 1)
	})
}

func TestWatcherSeesWindowsInTmuxAndOut(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		in := w.open(c, "inside", Opening{InTmux: true})
		w.tells("inside appeared: idle")
		if got, want := last[events.PeerAppeared](w).Peer.Tmux, in.pane(); got != want {
			t.Errorf("tmux %q, want %q", got, want)
		}
		w.open(c, "outside", Opening{})
		w.tells("outside appeared: idle")
		if got := last[events.PeerAppeared](w).Peer.Tmux; got != "" {
			t.Errorf("tmux %q outside tmux", got)
		}
		w.agrees(c, 2)
	})
}

func TestWatcherSeesTwoVersionsAtOnce(t *testing.T) {
	recent, old := Installed(t, Recent), Installed(t, Old)
	h := NewHome(t)
	w := watch(t, h)
	a := w.open(recent, "recent", Opening{})
	w.tells("recent appeared: idle")
	b := w.open(old, "old", Opening{})
	w.tells("old appeared: idle")
	w.agrees(recent, 2)
	w.agrees(old, 2)
	peers, err := w.roster()
	if err != nil {
		t.Fatal(err)
	}
	versions := map[int]string{}
	for _, p := range peers {
		versions[p.Peer.PID] = p.Peer.Version
	}
	if d := cmp.Diff(map[int]string{a.PID: Recent, b.PID: Old}, versions); d != "" {
		t.Errorf("versions by pid (-want +got):\n%s", d)
	}
	b.Quit()
	w.tells("old gone: exited")
	w.agrees(recent, 1)
}

// afterTheBreak is what is told first after the watcher was away: that it was, and then what it missed, in the order
// of the sessions' ids.
