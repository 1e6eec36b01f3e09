package codex

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// Explain implements [reconcile.Harness]. It looks anew at the process, the lock and the rollout. The verdict is on the
// process; whether that still holds the thread is for the lock to say.
func (h *Harness) Explain(_ context.Context, p events.Peer) reconcile.Explanation {
	sight := proc.Check(identity(p))
	e := reconcile.Explanation{Verdict: sight.Verdict.String(), Evidence: []reconcile.Evidence{h.processSays(p, sight)}}
	i := slices.IndexFunc(h.homes, func(hm *home) bool { return hm.path == p.Home })
	if i < 0 || !validID(p.Session) {
		e.Evidence = append(e.Evidence, reconcile.Evidence{
			Source: "lock", About: strconv.Quote(p.Home), Says: "is no home that is looked at",
		})
		return e
	}
	hm := h.homes[i]
	path := filepath.Join(hm.folder, lockName(p.Session))
	at, err := lockAt(hm.folder, p.Session)
	if err != nil {
		e.Evidence = append(e.Evidence, reconcile.Evidence{Source: "lock", About: strconv.Quote(path), Says: plain(err)})
		return e
	}
	lock := lockFile{id: p.Session, folder: hm.folder, at: at}
	e.Evidence = append(e.Evidence, h.lockSays(p, path, lock))
	if sight.Verdict == proc.Alive {
		e.Evidence = append(e.Evidence, openSays(p, lock))
	}
	if rollout, ok := h.rolloutSays(hm, p); ok {
		e.Evidence = append(e.Evidence, rollout)
	}
	if heard, ok := hm.daemon.heard(p.Session); ok {
		e.Evidence = append(e.Evidence, reconcile.Evidence{
			Source: "daemon", About: strconv.Quote(hm.path), OK: true, Time: heard.at,
			Says: fmt.Sprintf("tells that the thread is %q %q", heard.status.word, heard.status.flags),
		})
	}
	return e
}

// lockAt is the lock of a thread in a folder.
func lockAt(folder, thread string) (fileID, error) {
	d, err := openFolder(folder)
	if err != nil {
		return fileID{}, err
	}
	defer d.close()
	at, _, err := d.stat(lockName(thread))
	return at, err
}

func (h *Harness) processSays(p events.Peer, sight proc.Sight) reconcile.Evidence {
	e := reconcile.Evidence{Source: "process", About: strconv.Itoa(p.PID), Time: events.At(h.now())}
	switch sight.Verdict {
	case proc.Alive:
		e.OK, e.Says = true, "is alive, with start "+sight.Start
		if sight.Start == proc.Unread {
			e.Says = "is alive; its start cannot be read"
		}
	case proc.Dead:
		e.Says = "has ended"
	case proc.Replaced:
		e.Says = fmt.Sprintf("is another one, with start %s and not %q", sight.Start, p.Start)
	default:
		e.Says = "cannot be asked"
		if sight.Err != nil {
			e.Says += ": " + plain(sight.Err)
		}
	}
	return e
}

// lockSays is what the kernel says of the lock.
func (h *Harness) lockSays(p events.Peer, path string, lock lockFile) reconcile.Evidence {
	e := reconcile.Evidence{Source: "lock", About: strconv.Quote(path), Time: events.At(time.Now())}
	c := h.take([]lockFile{lock})
	now := c.of[lock.at]
	switch {
	case c.err != nil:
		e.Says = "cannot be asked about: " + plain(c.err)
	case now.why != nil:
		e.Says = "cannot be asked about: " + plain(now.why)
	case now.untold:
		e.Says = "is held, and the kernel does not tell by whom"
	case len(now.takers) > 0:
		var pids []int
		for _, t := range now.takers {
			pids = append(pids, t.pid)
		}
		e.OK, e.Says = slices.Contains(pids, p.PID), fmt.Sprintf("is held; taken by pid %v", pids)
	case h.seesAll():
		e.Says = "is there, and nobody holds it"
	default:
		e.Says = "is there, and nobody in this pid namespace holds it"
	}
	return e
}

// openSays is whether the process has the lock open by a descriptor that holds it.
func openSays(p events.Peer, lock lockFile) reconcile.Evidence {
	e := reconcile.Evidence{Source: "descriptors", About: strconv.Itoa(p.PID)}
	open, err := inspect(p.PID, []lockFile{lock})
	switch {
	case err != nil:
		e.Says = "cannot be looked at: " + plain(err)
	case open.locks[lock.at]:
		e.OK, e.Says = true, "one of them holds the lock"
	default:
		e.Says = "none of them holds the lock"
	}
	return e
}

// rolloutSays is what the rollout that was last read says now.
func (h *Harness) rolloutSays(hm *home, p events.Peer) (reconcile.Evidence, bool) {
	h.mu.Lock()
	t := hm.threads[p.Session]
	var ro rollout
	if t != nil {
		ro = t.rollout
	}
	h.mu.Unlock()
	if ro.path == "" {
		return reconcile.Evidence{}, false
	}
	ro.stamp = stamp{} // as if it had never been read
	ro.refresh(p.Session)
	e := reconcile.Evidence{Source: "rollout", About: strconv.Quote(ro.path), Time: ro.tail.turn.at}
	switch {
	case ro.path == "":
		e.Says = "is not there any more"
	case ro.why != nil:
		e.Says = plain(ro.why)
	case ro.tail.turn.word == "":
		e.Says = "is about this thread and does not say whether a turn is under way"
	default:
		e.OK, e.Says = true, fmt.Sprintf("is about this thread, with %q as the last word on a turn", ro.tail.turn.word)
	}
	return e, true
}
