package real

import (
	"fmt"
	"strings"
	"testing"

	"peerbus/events"
)

func TestWatcherSeesAWindowMovedToTheBackgroundAndOpenedAgain(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		win := w.open(c, "window", Opening{Name: "moved"})
		w.tells("window appeared: idle")
		win.Type("HOLD[turn]")
		w.tells("window: busy")
		id := win.Park()
		job := h.Job(id, "it is busy", Status("busy", ""))
		w.call("job", job.PID)
		w.agrees(c, 1) // the window is still there, and is no peer
		gone, works := "window gone: parked to job "+id+"\n", "job appeared: (busy|idle\njob: busy)\n"
		w.tellsLike(gone + works + "|" + works + gone)
		followed(w, job)
		if doctor, record := w.doctor(), fmt.Sprintf("%d.json", win.PID); !strings.Contains(doctor, record) {
			t.Errorf("doctor does not say why %s is no peer:\n%s", record, doctor)
		}
		h.Model.Release("turn")
		w.tells("job: idle")
		w.agrees(c, 1)

		win.Press("Enter")
		win.Shows("manual mode on")
		win.Type("HOLD[again]")
		w.tells("job: busy")
		w.agrees(c, 1)
		h.Model.Release("again")
		w.tells("job: idle")
		w.agrees(c, 1)

		win.Press("Left")
		win.Shows(moved)
		win.Leave()
		w.agrees(c, 1)
		h.Stop(c, id)
		w.tells("job gone: exited")
		w.agrees(c, 0)
	})
}

// followed checks whom the window that has gone named as its successor: the job, unless that appeared after it, which
// is right where the client has taken more than 2 s to start it.
func followed(w *watcher, job Record) {
	w.t.Helper()
	gone, appeared := last[events.PeerGone](w), last[events.PeerAppeared](w)
	want := events.Ref{Session: job.Session, Instance: appeared.Peer.Instance()}
	w.t.Logf("the window is gone at %s to %+v, its job appeared at %s", gone.Meta.Time, gone.Successor, appeared.Meta.Time)
	if late := gone.Meta.Time < appeared.Meta.Time; gone.Successor != want && (!late || gone.Successor != events.Ref{}) {
		w.t.Errorf("the window's successor is %+v, want %+v", gone.Successor, want)
	}
}

func TestWatcherSeesABackgroundJob(t *testing.T) {
	each(t, func(t *testing.T, h *Home, c Client) {
		w := watch(t, h)
		id := h.Background(c, "HOLD[turn]")
		job := h.Job(id, "it is busy", Status("busy", ""))
		w.call("job", job.PID)
		w.agrees(c, 1)
		w.tellsLike("job appeared: (busy|idle\njob: busy)\n")
		h.Model.Release("turn")
		w.tells("job: idle")
		w.agrees(c, 1)
		h.Stop(c, id)
		w.tells("job gone: exited")
		w.agrees(c, 0)
	})
}
