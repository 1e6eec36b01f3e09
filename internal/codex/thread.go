package codex

import (
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
)

// thread is what is known of one thread that has a lock in the folder, or of which the log has a peer.
type thread struct {
	id    string
	here  bool // its lock is in the folder
	file  fileID
	made  stamp // nobody writes to a lock: another stamp is another file, which may have got the number of the one before
	asked int   // how often it was asked who holds the file
	sweep int   // the last sweep that met it

	holders []*holder
	// lost are those who held it, as the log still has it, and do not any more.
	lost map[proc.Identity]events.Reason
	why  error     // why it could not be asked who holds it
	held bool      // it is, and nobody tells by whom
	due  time.Time // when it wants to be asked again, zero if it does not
	news bool      // something has become of it that no snapshot has told yet

	rollout rollout
}

// vanish notes that the lock is not in the folder, and reports whether it was.
func (t *thread) vanish() (was bool) {
	was = t.here
	t.here, t.file, t.made, t.why, t.held = false, fileID{}, stamp{}, nil, false
	t.holders, t.lost, t.due = nil, nil, time.Time{}
	t.news = t.news || was
	return was
}

// replace notes that the lock is another file than it was: whoever held the one before has taken it away.
func (t *thread) replace(at fileID, made stamp) {
	old := t.holders
	t.here, t.file, t.made, t.asked, t.holders = true, at, made, 0, nil
	for _, h := range old {
		t.lose(h, events.Exited)
	}
}

// lose notes that h does not hold the thread any more.
func (t *thread) lose(h *holder, why events.Reason) {
	for i, other := range t.holders {
		if other == h {
			t.holders = append(t.holders[:i:i], t.holders[i+1:]...)
			break
		}
	}
	if h.state != sure && h.state != assumed {
		return
	}
	if t.lost == nil {
		t.lost = map[proc.Identity]events.Reason{}
	}
	t.lost[h.who] = why
	t.news = true
}

// lostFor is why the process does not hold the thread any more, "" if it never did.
func (t *thread) lostFor(who proc.Identity) events.Reason {
	for id, why := range t.lost {
		if same(id, who) {
			return why
		}
	}
	return ""
}

// holder is the one that is that process, or nil.
func (t *thread) holder(who proc.Identity) *holder {
	for _, h := range t.holders {
		if same(h.who, who) && (h.state == sure || h.state == assumed || h.state == fresh) {
			return h
		}
	}
	return nil
}

// same tells whether the two are one process, as far as is known: a start that could not be read proves nothing.
func same(a, b proc.Identity) bool {
	return a.PID == b.PID && (a.Start == b.Start || a.Start == proc.Unread || b.Start == proc.Unread)
}

// wait has it asked again at that time at the latest who holds the thread.
func (t *thread) wait(until time.Time) {
	if t.due.IsZero() || until.Before(t.due) {
		t.due = until
	}
}
