package main

import (
	"fmt"
	"os/exec"
	"time"

	"peerbus/events"
)

// tailing is a `watcher tail` that runs beside the watcher.
type tailing struct {
	*heard
	daemon daemon
}

// startTail has tail print what comes from now on.
func (s *stage) startTail() (*tailing, error) {
	t := &tailing{heard: newHeard(func(events.Last, time.Time) {})}
	t.daemon = daemon{
		event: t.event,
		peer:  func(uint64, events.Peer) {},
		wrong: func(line string) { s.failf("tail prints %q", line) },
	}
	t.daemon.cmd = exec.Command(s.daemon.watcher, "tail", "--json", "--state", s.daemon.state)
	if err := t.daemon.begin(); err != nil {
		return nil, fmt.Errorf("start tail: %w", err)
	}
	return t, nil
}

// end ends it by SIGKILL; it was interrupted where it was.
func (t *tailing) end() {
	_ = t.daemon.kill()
}
