package codex

import "testing"

// open opens a window that the story calls name.
func (w *watcher) open(name string, o Opening) *Window {
	w.t.Helper()
	win := w.home.Open(o)
	w.call(name, win.Thread)
	w.tells(name + " appeared: unknown")
	return win
}

func TestWatcherSeesAWindowWorkAndQuit(t *testing.T) {
	for name, opening := range map[string]Opening{"alone": Alone, "with a daemon": Shared} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			w := watch(t, h)
			win := w.open("window", opening)
			holder := win.PID
			if opening == Shared {
				holder = h.Daemon()
			}
			w.agrees(1)
			w.says(win.Thread, heldBy(holder))
			win.Type("HOLD[turn]")
			w.tells("window: busy")
			w.agrees(1)
			w.says(win.Thread, heldBy(holder))
			h.Model.Release("turn")
			w.tells("window: idle")
			w.agrees(1)
			w.says(win.Thread, heldBy(holder))
			win.Quit()
			if opening == Shared {
				w.says(win.Thread, heldBy(holder)) // for as long as the daemon keeps the thread
				w.agrees(1)
			}
			w.tells("window gone: exited")
			w.agrees(0)
			w.says(win.Thread, free)
			w.closes()
		})
	}
}

func TestWatcherSeesAWindowKilledInATurn(t *testing.T) {
	for name, opening := range map[string]Opening{"alone": Alone, "with a daemon": Shared} {
		t.Run(name, func(t *testing.T) {
			h := NewHome(t, Installed(t))
			w := watch(t, h)
			win := w.open("window", opening)
			win.Type("HOLD[turn]")
			w.tells("window: busy")
			win.Kill()
			if opening == Alone {
				w.tells(dies("window"))
				w.says(win.Thread, leftBehind())
			} else {
				w.says(win.Thread, heldBy(h.Daemon()))
				h.Model.Release("turn")
				w.tells("window: idle") // it goes on to its end
				w.agrees(1)
				w.tells("window gone: exited")
				w.says(win.Thread, free)
			}
			w.agrees(0)
			w.closes()
		})
	}
}

func TestWatcherSeesADaemonKilled(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	one := w.open("one", Shared)
	two := w.open("two", Shared)
	w.agrees(2)
	one.Type("HOLD[turn]")
	w.tells("one: busy")
	h.KillDaemon()
	w.tells(inAnyOrder(dies("one"), dies("two")))
	w.agrees(0)
	w.says(one.Thread, leftBehind())
	w.says(two.Thread, leftBehind())
	w.closes()
}

func TestWatcherSeesAThreadWaitForApproval(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	win := w.open("window", Shared)
	win.Type("HOLD[turn] RUN[touch done-it] THEN[rest]")
	w.tells("window: busy")
	h.Model.Release("turn")
	w.tells("window: waiting for approval")
	w.says(win.Thread, heldBy(h.Daemon()))
	win.Shows(question)
	win.Press("Enter")
	w.tells("window: busy")
	w.agrees(1)
	h.Model.Release("rest")
	w.tells("window: idle")
	w.agrees(1)
	w.closes()
}

func TestWatcherSeesASubAgent(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	win := w.open("window", Shared)
	win.Type("HOLD[turn] SPAWN[helper] THEN[rest]")
	w.tells("window: busy")
	h.Model.Release("turn")
	child := h.another([]string{win.Thread})
	w.call("child", child)
	w.tells(appears("child"))
	w.agrees(2) // the child with its parent
	w.says(child, heldBy(h.Daemon()))
	h.Model.Release("rest")
	w.tells("window: idle")
	w.agrees(2)
	// Threads that are closed in the same instant get into each other's way, and one may leave its lock: the child works
	// on while its parent is closed.
	win.Quit()
	w.tells("window gone: exited")
	w.says(child, heldBy(h.Daemon()))
	h.Model.Release("helper")
	w.tells("child: idle")
	w.agrees(1)
	w.tells("child gone: exited")
	w.says(child, free)
	w.closes()
}

func TestWatcherSeesASecondThreadOfAWindow(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	win := w.open("first", Alone)
	win.Type("HOLD[turn]")
	w.tells("first: busy")
	h.Model.Release("turn")
	w.tells("first: idle")
	before := []string{win.Thread}
	win.Type("/new")
	second := h.another(before)
	w.call("second", second)
	w.tells("second appeared: unknown")
	w.agrees(2)
	w.says(win.Thread, heldBy(win.PID)) // for as long as the window keeps what it does not show
	w.says(second, heldBy(win.PID))
	w.tells("first gone: exited")
	w.agrees(1)
	w.says(win.Thread, free)
	win.Quit()
	w.tells("second gone: exited")
	w.agrees(0)
	w.closes()
}
