package claude

import (
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// slack is what file times, start times and the boot time can differ by without contradicting each other: Linux gives
// the boot in whole seconds, and file clocks tick in up to 2 s.
const slack = 2 * time.Second

// verdict is what is known of the process that wrote the record of s, of which ks are known to be peers.
//
// Its start, where it is proven, decides. Only where it is not do the clock and the file's time count, since a clock
// that is set makes them wrong: a record from before the boot is a dead process's, and a process that began after the
// record was written may be another one. A process that was already published with this session is that one.
func (r *reading) verdict(s *slot, ks []events.Peer) proc.Sight {
	sight := proc.Look(s.pid)
	if sight.Verdict != proc.Alive {
		return sight
	}
	match := proc.Compare(s.rec.ProcStart, sight)
	if match == proc.Same || match == proc.Unproven && published(s.rec.Session, sight.Start, ks) {
		return sight
	}
	written := s.key.written().Add(slack)
	switch {
	case written.Before(r.boot()):
		sight.Verdict = proc.Dead
	case match == proc.Different:
		sight.Verdict = proc.Replaced
	case written.Before(sight.Began):
		sight.Verdict = proc.Unknown
	}
	return sight
}

// published tells whether one of ks is that session in that process.
func published(session, start string, ks []events.Peer) bool {
	for _, k := range ks {
		if k.Session == session && k.Start == start && start != proc.Unread {
			return true
		}
	}
	return false
}

// record judges a record that may be a peer's, and everybody known at its spot.
func (r *reading) record(hm *home, s *slot, ks []events.Peer) {
	sight := r.verdict(s, ks)
	if sight.Verdict == proc.Alive {
		if v := r.pin(proc.Identity{PID: s.pid, Start: sight.Start}); v == proc.Dead || v == proc.Replaced {
			sight = proc.Sight{Verdict: v, Start: proc.Unread} // it ended after it was looked at
		}
	}
	switch sight.Verdict {
	case proc.Alive:
		r.alive(hm, s, ks, sight.Start)
	case proc.Dead:
		s.kind = leftover
		each(ks, func(k events.Peer) { r.outdated(s, k, sight, r.ending(hm, s)) })
	case proc.Replaced:
		s.kind = replaced
		each(ks, func(k events.Peer) { r.outdated(s, k, sight, events.Replaced) })
	default:
		s.kind = unproven
		each(ks, func(k events.Peer) { r.byProcess(k, died) })
		if len(ks) == 0 {
			r.snap.Unread = append(r.snap.Unread,
				reconcile.Place{Harness: events.Claude, Home: hm.path, PID: s.pid})
		}
	}
}

// outdated judges a known peer at a record whose process is gone, for that reason. If the process that bears the pid
// now is nevertheless the peer's own, it is a peer that has lost its record.
func (r *reading) outdated(s *slot, k events.Peer, sight proc.Sight, why events.Reason) {
	if sight.Start != proc.Unread && k.Start == sight.Start {
		r.unrecorded(s, k)
		return
	}
	r.goes(k, reconcile.Going{Reason: why})
}

// alive judges a record whose process lives, and everybody known at its spot.
func (r *reading) alive(hm *home, s *slot, ks []events.Peer, start string) {
	if r.ours(proc.Identity{PID: s.pid, Start: start}) {
		r.nobody(s, courier, ks)
		return
	}
	s.goneSince = time.Time{}
	p := s.rec.peer(hm.path, publishedStart(s.rec.Session, start, ks))
	if place, ok := r.waiting[p.Job]; ok && p.Job != "" {
		delete(r.waiting, p.Job)
		r.again(place, soon)
	}
	if left := r.unborn(s, p, ks); left > 0 {
		s.kind = bare
		each(ks, r.stays)
		place := reconcile.Place{Harness: events.Claude, Home: hm.path, PID: s.pid}
		if len(ks) == 0 {
			r.snap.Unread = append(r.snap.Unread, place)
		}
		r.again(place, left)
		return
	}
	s.kind = peer
	if !r.covers(p) {
		// The scope names another session at this pid, and what became of it shows in the wider place only.
		each(ks, r.stays)
		r.again(reconcile.Place{Home: hm.path, PID: s.pid}, soon)
		return
	}
	r.snap.Peers = append(r.snap.Peers, p)
	each(ks, func(k events.Peer) { r.beside(p, k) })
}

// publishedStart is start, or what the process was published with before its start could be read, or since when it
// cannot be read any more: that is no reason for a peer to become another one.
func publishedStart(session, start string, ks []events.Peer) string {
	other := start
	for _, k := range ks {
		switch {
		case k.Session != session:
		case k.Start == start:
			return start
		case k.Start == proc.Unread || start == proc.Unread:
			other = k.Start
		}
	}
	return other
}

// unborn is how long p still waits for a status, if nobody knows it yet.
func (r *reading) unborn(s *slot, p events.Peer, ks []events.Peer) time.Duration {
	if s.rec.Status != "" {
		return 0
	}
	for _, k := range ks {
		if k.ID("") == p.ID("") {
			return 0
		}
	}
	// The older of two signs counts, so that a record which nobody watched being made does not wait.
	age := max(r.at.Sub(since(&s.bareSince, r.at)), r.at.Sub(s.key.written()))
	return bareGrace - age
}

// beside judges a known peer at the spot where p is now.
func (r *reading) beside(p, k events.Peer) {
	switch {
	case k.Start == p.Start: // p itself, or a session that p's process has left: p says both
	case k.Start == proc.Unread || p.Start == proc.Unread:
		r.switched(k, events.Ref{Session: p.Session, Instance: p.Instance()})
	default:
		r.goes(k, reconcile.Going{Reason: events.Replaced})
	}
}
