package codex

import (
	"os"
	"strconv"
	"testing"
	"time"

	"peerbus/events"
)

// TestWatcherIsNotWhoADaemonWorksFor has a watcher before any window: a daemon takes the name of the first client that
// it hears of for its own, writes it down in each thread, and tells it to the model's vendor.
func TestWatcherIsNotWhoADaemonWorksFor(t *testing.T) {
	h := NewHome(t, Installed(t))
	h.StartDaemon()
	w := watch(t, h)
	win := w.open("window", Shared)
	win.Type("hello")
	h.UntilTurn(win.Thread, Completed)
	if r, err := h.Rollout(win.Thread); err != nil || r.Originator != "codex-tui" {
		t.Errorf("the thread is of %q, %v, want codex-tui", r.Originator, err)
	}
}

// starts is how many clients are started under watch, at full size.
const starts = 200

// TestWatcherLeavesStartsAlone has clients start while a watcher looks: whoever opens or locks a file in the folder of
// the locks makes some of them fail.
func TestWatcherLeavesStartsAlone(t *testing.T) {
	h := NewHome(t, Installed(t))
	w := watch(t, h)
	n := scaled(t, starts)
	began := time.Now()
	for range n {
		h.Exec("hello").Ends(0)
	}
	t.Logf("%d starts in %s", n, time.Since(began))
	w.agrees(0)
	log, err := w.log()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, l := range log {
		if e, ok := l.Event.(events.PeerGone); ok {
			seen++
			if e.Reason != events.Exited {
				t.Errorf("gone: %s, want exited", e.Reason)
			}
		}
	}
	t.Logf("%d of them were seen", seen)
	if seen == 0 {
		t.Error("none was watched")
	}
	w.told = len(log)
	w.closes()
}

// scaled is n times PEERBUS_SCALE, which is 0.05 where it is not set, and 1 at the least.
func scaled(t *testing.T, n int) int {
	t.Helper()
	scale := 0.05
	if text := os.Getenv("PEERBUS_SCALE"); text != "" {
		var err error
		if scale, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("PEERBUS_SCALE: %v", err)
		}
	}
	return max(1, int(float64(n)*scale))
}
