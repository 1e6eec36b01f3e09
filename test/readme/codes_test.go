//go:build unix

package readme

import (
	"syscall"
	"testing"
)

func TestExitCodes(t *testing.T) {
	says(t, "The exit code is 0 for yes, 1 for no, 2 for wrong usage, 3 where nobody answers or a watcher is running already, "+
		"and 130 after ^C; `watcher run` ends with 0 on ^C and SIGTERM.")
	w := newWorld(t)
	w.run(t, "watcher ls").ends(3)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		run := w.run(t, "watcher run").prints("^proj-93 ")
		w.run(t, "watcher run").ends(3)
		w.run(t, "watcher ls").ends(0)
		w.run(t, "watcher why nobody-of-that-name").ends(1)
		w.run(t, "watcher ls --no-such-flag").ends(2)
		tail := w.run(t, "watcher tail --from 1").prints("proj-93 ")
		tail.stops(syscall.SIGINT, 130)
		run.stops(s, 0)
	}
}
