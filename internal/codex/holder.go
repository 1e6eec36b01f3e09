package codex

import (
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
)

// How far apart two looks must be for the second to count.
const (
	// takenGap: a lock that was taken a moment ago may be one that Codex takes to find out whether anybody holds it,
	// for less than a millisecond.
	takenGap = 10 * time.Millisecond
	// leftGap: Codex lets a lock go just before it removes the file. A process that is not run in between, on a loaded
	// machine, can take tens of milliseconds for that.
	leftGap = 100 * time.Millisecond
	// heirsGap is how often it is looked for who has inherited a lock: that goes through all processes.
	heirsGap = 10 * time.Second
)

// holder is a process by which the lock of a thread was seen to be taken.
type holder struct {
	who      proc.Identity
	taker    int // who took the lock, by the kernel's word: who itself, or one from whom it has inherited it
	loose    bool
	state    standing
	first    time.Time // when it was first seen
	missed   time.Time // since when the kernel does not name it, zero while it does
	searched time.Time // when heirs were looked for
}

// standing is what is thought of a holder.
type standing int

const (
	fresh   standing = iota // seen once
	sure                    // a peer
	assumed                 // the log has it; whether it still holds the lock is to be asked
	astray                  // the lock is held, and not by the process that took it
	other                   // it holds another file, on another device, with the same number
)

// world is what is asked about processes. Each answer is kept for the length of one reading.
type world interface {
	look(pid int) proc.Sight
	check(proc.Identity) proc.Verdict
	// inspect looks at the locks that a process has open.
	inspect(pid int) (descriptors, error)
	heirs(lockFile) []int
	// seesAll is that a process without a row holds nothing.
	seesAll() bool
	// ending is how the thread of a process ended that was seen not to hold it any more.
	ending(*thread) events.Reason
	// known tells whether the log has the process as a holder of the thread.
	known(*thread, proc.Identity) bool
}

// absorb takes what the kernel said of the thread's lock at that time.
func (t *thread) absorb(now holding, at time.Time, w world) {
	t.due, t.why, t.held = time.Time{}, now.why, now.untold
	if now.why != nil || now.untold {
		return
	}
	named := map[int]bool{}
	for _, tk := range now.takers {
		named[tk.pid] = true
		if tk.pid == 0 {
			t.held = true
			continue
		}
		t.take(tk, at, w)
	}
	for _, h := range t.holders[:len(t.holders):len(t.holders)] {
		if !named[h.taker] {
			t.missing(h, at, w)
		}
	}
	if t.asked++; t.asked == 1 && len(t.holders) == 0 {
		t.wait(at.Add(takenGap)) // a file that has just been made is about to be locked
	}
}

// take notes that tk has the lock.
func (t *thread) take(tk taker, at time.Time, w world) {
	found := false
	for _, h := range t.holders[:len(t.holders):len(t.holders)] {
		if h.taker != tk.pid {
			continue
		}
		if v := w.check(h.who); h.state != astray && (v == proc.Dead || v == proc.Replaced) {
			t.lose(h, w.ending(t))
			continue
		}
		found = true
		h.missed = time.Time{}
		t.again(h, at, w)
	}
	if found {
		return
	}
	h := &holder{taker: tk.pid, loose: tk.loose, first: at}
	t.holders = append(t.holders, h)
	sight := w.look(tk.pid)
	if sight.Verdict != proc.Alive {
		h.state = astray
		t.wait(at.Add(takenGap))
		return
	}
	h.who = proc.Identity{PID: tk.pid, Start: sight.Start}
	if w.known(t, h.who) {
		h.state = sure
		t.regain(h.who)
		return
	}
	t.wait(at.Add(takenGap))
}

// regain notes that a process has the lock that it was thought to have lost.
func (t *thread) regain(who proc.Identity) {
	for id := range t.lost {
		if same(id, who) {
			delete(t.lost, id)
		}
	}
}

// again notes that the kernel still names h.
func (t *thread) again(h *holder, at time.Time, w world) {
	switch {
	case h.state == assumed:
		h.state = sure
	case h.state == fresh && w.known(t, h.who):
		h.state = sure
	case at.Sub(h.first) < takenGap:
		t.wait(h.first.Add(takenGap))
	case h.state == fresh:
		t.settle(h, w)
	}
	if h.state == astray && at.Sub(h.first) >= takenGap && (h.searched.IsZero() || at.Sub(h.searched) >= heirsGap) {
		h.searched = at
		t.bequeath(h, at, w)
	}
}

// settle decides what a holder is that was seen twice.
func (t *thread) settle(h *holder, w world) {
	open, err := w.inspect(h.who.PID)
	switch {
	case err == nil && open.locks[t.file], err != nil && !h.loose:
		h.state, t.news = sure, true
	case err == nil && h.loose:
		h.state = other
	default:
		h.state = astray
	}
}

// bequeath finds those who have the lock instead of h.
func (t *thread) bequeath(h *holder, at time.Time, w world) {
	for _, pid := range w.heirs(lockFile{id: t.id, at: t.file}) {
		sight := w.look(pid)
		if sight.Verdict != proc.Alive {
			continue
		}
		who := proc.Identity{PID: pid, Start: sight.Start}
		heir := t.holder(who)
		if heir == nil {
			heir = &holder{who: who, first: at}
			t.holders = append(t.holders, heir)
		}
		heir.taker, heir.loose, heir.state, heir.missed = h.taker, h.loose, sure, time.Time{}
		t.regain(who)
		t.news = true
	}
}

// missing notes that the kernel does not name h. One that lives and was a peer is given another look before it is
// believed, and is a peer still where the kernel may be hiding it from us.
func (t *thread) missing(h *holder, at time.Time, w world) {
	v := w.check(h.who)
	switch {
	case v == proc.Dead, v == proc.Replaced:
		t.lose(h, w.ending(t))
	case h.state != sure && h.state != assumed:
		t.lose(h, w.ending(t))
		t.wait(at.Add(takenGap)) // its row may have been missed
	case !w.seesAll():
		h.missed = at
	case h.missed.IsZero():
		h.missed = at
		t.wait(at.Add(leftGap))
	case at.Sub(h.missed) < leftGap:
		t.wait(h.missed.Add(leftGap))
	default:
		if open, err := w.inspect(h.who.PID); err == nil && open.locks[t.file] {
			h.missed = time.Time{} // its row was missed, or another has taken the lock for it
			return
		}
		t.lose(h, w.ending(t))
	}
}
