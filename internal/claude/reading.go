package claude

import (
	"maps"
	"slices"
	"sync"
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
	boot    func() time.Time
	snap    reconcile.Snapshot
}

// target is what of a home is to be looked at: everything, or some records.
type target struct {
	whole bool
	pids  map[int]bool
}

// spot is where a record is.
type spot struct {
	home *home
	pid  int
}

func (h *Harness) newReading(of []reconcile.Place, known []events.Peer) *reading {
	now := h.now()
	r := &reading{
		Harness: h, at: now, of: of, targets: make([]target, len(h.homes)), known: map[spot][]events.Peer{},
		boot: sync.OnceValue(bootTime),
		snap: reconcile.Snapshot{At: now, Gone: map[events.ID]reconcile.Going{}},
	}
	for i, hm := range h.homes {
		r.targets[i] = targetOf(hm, of)
	}
	for _, p := range known {
		r.know(p)
	}
	return r
}

func bootTime() time.Time {
	t, err := proc.Boot()
	if err != nil {
		return time.Time{} // no file is older, so that nothing follows from it
	}
	return t
}

func targetOf(hm *home, of []reconcile.Place) target {
	t := target{whole: len(of) == 0, pids: map[int]bool{}}
	for _, pl := range of {
		switch {
		case pl.Harness != "" && pl.Harness != events.Claude, pl.Home != "" && pl.Home != hm.path:
		case pl.PID == 0:
			t.whole = true
		case proc.ValidPID(int64(pl.PID)):
			t.pids[pl.PID] = true
		}
	}
	return t
}

// know files p under the record that is looked at for it, if one is.
func (r *reading) know(p events.Peer) {
	if p.Harness != events.Claude {
		return
	}
	hm := r.home(p.Home)
	if hm == nil {
		r.stray = append(r.stray, p)
		return
	}
	if t := r.targets[slices.Index(r.homes, hm)]; t.whole || t.pids[p.PID] || r.covers(p) {
		at := spot{hm, p.PID}
		r.known[at] = append(r.known[at], p)
	}
}

// covers tells whether p is in the scope.
func (r *reading) covers(p events.Peer) bool {
	return len(r.of) == 0 || slices.ContainsFunc(r.of, func(pl reconcile.Place) bool { return pl.Holds(p) })
}

// enter reads the files of hm that are to be looked at. A folder that turns out to be another one than before is read
// whole, and the rest of the home is asked for.
func (r *reading) enter(hm *home, t target) {
	if !t.whole && len(t.pids) == 0 {
		return
	}
	d, changed := hm.enter(r.at, r.holds(hm), func(id folderID) *home { return r.twin(hm, id) })
	if d == nil {
		r.watcher.disarm(hm)
		return
	}
	defer d.close()
	before := hm.swept
	if t.whole || changed {
		if err := hm.sweepIn(d, r.at); err != nil {
			hm.lose(err, r.at, true)
			r.watcher.disarm(hm)
			return
		}
	} else {
		for pid := range t.pids {
			hm.readIn(d, pid, r.at)
		}
	}
	r.watcher.want(hm, hm.id)
	if t.whole {
		r.tell(hm, before)
	} else if changed {
		r.again(reconcile.Place{Home: hm.path}, soon)
	}
}

// tell puts into the snapshot when nobody watched hm, which was last seen whole at before: whatever came after that
// may have been among the notices that were lost.
func (r *reading) tell(hm *home, before time.Time) {
	if r.watcher.overflowed(hm) && !before.IsZero() {
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
func (r *reading) twin(hm *home, id folderID) *home {
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

// pids are the records of hm that are to be judged, in order.
func (r *reading) pids(hm *home, t target) []int {
	pids := map[int]bool{}
	if hm.state != doubled {
		maps.Copy(pids, t.pids)
	}
	if t.whole {
		for pid := range hm.slots {
			pids[pid] = true
		}
	}
	for at := range r.known {
		if at.home == hm {
			pids[at.pid] = true
		}
	}
	return slices.Sorted(maps.Keys(pids))
}

// soon is when a place is asked for that is wider than the scope; it is no more than a wake-up.
const soon = time.Millisecond

func (r *reading) again(pl reconcile.Place, after time.Duration) {
	pl.Harness = events.Claude
	r.snap.Again = append(r.snap.Again, reconcile.Again{Place: pl, After: after})
}

// stays says that nothing speaks for p's going.
func (r *reading) stays(p events.Peer) {
	r.pin(identity(p))
	if r.covers(p) {
		r.snap.Unread = append(r.snap.Unread,
			reconcile.Place{Harness: events.Claude, Home: p.Home, PID: p.PID, Session: p.Session})
	}
}

// goes says that p is not there, and why.
func (r *reading) goes(p events.Peer, why reconcile.Going) {
	if r.covers(p) {
		r.snap.Gone[p.ID("")] = why
	}
}

func identity(p events.Peer) proc.Identity { return proc.Identity{PID: p.PID, Start: p.Start} }

// strays judges the known peers of homes that are not looked at: by their processes alone.
func (r *reading) strays() {
	for _, p := range r.stray {
		if r.covers(p) {
			r.byProcess(p, died)
		}
	}
}
