package codex

import (
	"maps"
	"slices"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// reading is one Read: what it is about, and the snapshot that it makes.
type reading struct {
	*Harness
	at      time.Time
	of      []reconcile.Place
	targets []target // by home
	known   map[spot][]events.Peer
	stray   []events.Peer // known peers in homes that are not ours, or not any more
	asked   answers
	snap    reconcile.Snapshot
}

// target is what of a home is to be looked at: everything, or some threads.
type target struct {
	whole bool
	ids   map[string]bool
}

// spot is where a thread is.
type spot struct {
	home *home
	id   string
}

func (h *Harness) newReading(of []reconcile.Place, known []events.Peer) *reading {
	now := h.now()
	r := &reading{
		Harness: h, at: now, of: of, targets: make([]target, len(h.homes)), known: map[spot][]events.Peer{},
		asked: newAnswers(),
		snap:  reconcile.Snapshot{At: now, Gone: map[events.ID]reconcile.Going{}},
	}
	for i, hm := range h.homes {
		r.targets[i] = r.targetOf(hm, known)
	}
	for _, p := range known {
		r.know(p)
	}
	return r
}

func (r *reading) targetOf(hm *home, known []events.Peer) target {
	t := target{whole: len(r.of) == 0, ids: map[string]bool{}}
	for _, pl := range r.of {
		switch {
		case pl.Harness != "" && pl.Harness != events.Codex, pl.Home != "" && pl.Home != hm.path:
		case pl.Session != "":
			if validID(pl.Session) {
				t.ids[pl.Session] = true
			}
		case pl.PID == 0:
			t.whole = true
		default:
			for id := range hm.heldBy(pl.PID) {
				t.ids[id] = true
			}
			for _, p := range known {
				if pl.Holds(p) && r.home(p.Home) == hm {
					t.ids[p.Session] = true
				}
			}
		}
	}
	return t
}

// heldBy are the threads that a process holds, or is about to.
func (h *home) heldBy(pid int) map[string]bool {
	ids := map[string]bool{}
	for id, t := range h.threads {
		if slices.ContainsFunc(t.holders, func(o *holder) bool { return o.who.PID == pid || o.taker == pid }) {
			ids[id] = true
		}
	}
	return ids
}

// know files p under the thread that is looked at for it, if one is.
func (r *reading) know(p events.Peer) {
	if p.Harness != events.Codex {
		return
	}
	hm := r.home(p.Home)
	if hm == nil || !validID(p.Session) {
		r.stray = append(r.stray, p)
		return
	}
	if t := r.targets[slices.Index(r.homes, hm)]; t.whole || t.ids[p.Session] || r.covers(p) {
		at := spot{hm, p.Session}
		r.known[at] = append(r.known[at], p)
	}
}

// covers tells whether p is in the scope.
func (r *reading) covers(p events.Peer) bool {
	return len(r.of) == 0 || slices.ContainsFunc(r.of, func(pl reconcile.Place) bool { return pl.Holds(p) })
}

// enter looks at what is to be looked at in the folder of hm, and reports whether it is other than it was. A folder
// that turns out to be another one than before is looked at as a whole, and the rest of the home is asked for.
func (r *reading) enter(hm *home, t target) (changed bool) {
	if !t.whole && len(t.ids) == 0 {
		return false
	}
	d, anew := hm.enter(r.at, r.holds(hm), func(id fileID) *home { return r.twin(hm, id) })
	if d == nil {
		r.watcher.disarm(hm.folder)
		return false
	}
	defer d.close()
	before := hm.swept
	if t.whole || anew {
		var err error
		if changed, err = hm.sweepIn(d, r.at); err != nil {
			hm.lose(err, r.at, true)
			r.watcher.disarm(hm.folder)
			return false
		}
	} else {
		for id := range t.ids {
			changed = hm.visit(d, id) || changed
		}
	}
	if t.whole {
		r.tell(hm, before)
	} else if anew {
		r.again(reconcile.Place{Home: hm.path}, soon)
	}
	return changed || anew
}

// tell puts into the snapshot when nobody watched hm, which was last seen whole at before: whatever came after that
// may have been among the notices that were lost.
func (r *reading) tell(hm *home, before time.Time) {
	if r.watcher.overflowed(hm.folder) && !before.IsZero() {
		hm.blind = append(hm.blind, reconcile.Blind{From: before, To: r.at, Why: events.Overflow})
	}
	for _, b := range hm.blind {
		if !slices.Contains(r.snap.Blind, b) { // two homes lose their notices at once
			r.snap.Blind = append(r.snap.Blind, b)
		}
	}
	hm.blind = nil
}

// holds tells whether somebody is known to be in hm.
func (r *reading) holds(hm *home) bool {
	for at := range r.known {
		if at.home == hm {
			return true
		}
	}
	return false
}

// twin is the earlier home that has the folder id, or nil.
func (r *reading) twin(hm *home, id fileID) *home {
	for _, other := range r.homes {
		if other == hm {
			return nil
		}
		if other.state == there && other.id == id {
			return other
		}
	}
	return nil
}

// ids are the threads of hm that are to be judged, in order.
func (r *reading) ids(hm *home, t target) []string {
	ids := map[string]bool{}
	if hm.state != doubled {
		maps.Copy(ids, t.ids)
	}
	if t.whole {
		for id := range hm.threads {
			ids[id] = true
		}
	}
	for at := range r.known {
		if at.home == hm {
			ids[at.id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// soon is when a place is asked for that is wider than the scope; it is no more than a wake-up.
const soon = time.Millisecond

func (r *reading) again(pl reconcile.Place, after time.Duration) {
	pl.Harness = events.Codex
	r.snap.Again = append(r.snap.Again, reconcile.Again{Place: pl, After: after})
}

// stays says that nothing speaks for p's going.
func (r *reading) stays(p events.Peer) {
	r.pin(identity(p))
	if r.covers(p) {
		r.snap.Unread = append(r.snap.Unread,
			reconcile.Place{Harness: events.Codex, Home: p.Home, PID: p.PID, Session: p.Session})
	}
}

// goes says that p is not there, and why.
func (r *reading) goes(p events.Peer, why events.Reason) {
	if r.covers(p) {
		r.snap.Gone[p.ID("")] = reconcile.Going{Reason: why}
	}
}

func identity(p events.Peer) proc.Identity { return proc.Identity{PID: p.PID, Start: p.Start} }
