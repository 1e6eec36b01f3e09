package codex

import (
	"os"
	"syscall"
	"testing"

	"peerbus/occupancy"
)

// exec starts a `codex exec` that waits in its turn, which the story calls name.
func (w *watcher) exec(name string) *Run {
	w.t.Helper()
	r := w.home.Exec("HOLD[turn]")
	w.call(name, r.Thread)
	w.tells(appears(name))
	return r
}

func TestWatcherSeesAnExecWorkAndEnd(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	w.agrees(0)
	r := w.exec("exec")
	w.agrees(1)
	w.says(r.Thread, heldBy(r.PID))
	h.Model.Release("turn")
	r.Ends(0)
	w.says(r.Thread, free)
	w.tells(exits("exec"))
	w.agrees(0)
	w.closes()
}

func TestWatcherSeesAnExecEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		by   os.Signal
		goes string
		left verdict
	}{
		"by INT":  {os.Interrupt, exits("exec"), free},
		"by TERM": {syscall.SIGTERM, dies("exec"), leftBehind()},
		"by -9":   {os.Kill, dies("exec"), leftBehind()},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			w := watch(t, h)
			r := w.exec("exec")
			r.Signal(tc.by)
			<-r.ended
			w.says(r.Thread, tc.left)
			w.tells(tc.goes)
			w.agrees(0)
			next := w.exec("next") // takes away what the dead have left
			w.says(r.Thread, free)
			h.Model.Release("turn")
			next.Ends(0)
			w.tells(exits("next"))
			w.closes()
		})
	}
}

func TestWatcherSeesNothingOfAnExecWithoutTrace(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	r := h.Exec("HOLD[turn]", "--ephemeral")
	w.says(r.Thread, verdict{Reason: occupancy.DetectorUnavailable})
	other := w.exec("other")
	w.says(r.Thread, free) // it does not register, and nobody can know
	w.agrees(1)
	h.Model.Release("turn")
	r.Ends(0)
	other.Ends(0)
	w.tells(exits("other"))
	w.closes()
}

func TestWatcherKilledInBetween(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	stays := w.open("stays", Shared)
	r := w.exec("dies")
	w.agrees(2)
	w.kill()
	r.Signal(os.Kill)
	<-r.ended
	stays.Type("HOLD[again]")
	h.UntilTurn(stays.Thread, Started)
	w.start()
	w.tells("watch resumed: start", inAnyOrder("dies gone: died, missed", "stays: busy"))
	w.agrees(1)
	h.Model.Release("again")
	w.tells("stays: idle")
	w.agrees(1)
	w.closes()
}
