package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// How long is waited for what usually comes.
const (
	// goneGrace is how long a process may live on after it took its record away, before that is not its ending but
	// its leaving. An ending one needs 17 to 45 ms; one that is stopped or swapped out meanwhile needs longer.
	goneGrace = 5 * time.Second
	// bareGrace is how long a new record may be without a status. It gets one some 100 ms after it is made; programs
	// that never give one are peers all the same.
	bareGrace = 300 * time.Millisecond
	// parkedGrace is how long the record of the job may take, in which a session that was handed over goes on. It was
	// seen to take 2.2 to 3.2 s.
	parkedGrace = 5 * time.Second
)

// judge says of everybody who is known to be at that spot, and of the record there, whether they are there.
func (r *reading) judge(hm *home, pid int) {
	ks := r.known[spot{hm, pid}]
	s := hm.slots[pid]
	switch {
	case hm.state == doubled:
		// Until just now a home of its own: next time they are looked for in the home that counts.
		each(ks, r.stays)
	case hm.state != there:
		each(ks, func(k events.Peer) { r.byProcess(k, died) })
	case s == nil || !s.here:
		r.absent(hm, pid, ks)
	case s.bad != nil:
		r.broken(hm, s, ks)
	case foreign(s.rec.Domain, r.domain, runtime.GOOS):
		r.nobody(s, elsewhere, ks)
	case s.rec.Parked != "":
		r.parked(hm, s, ks)
	case s.rec.Spare:
		r.nobody(s, spare, ks)
	default:
		r.record(hm, s, ks)
	}
}

func each(ks []events.Peer, do func(events.Peer)) {
	for _, k := range ks {
		do(k)
	}
}

// byProcess judges a known peer of which no record speaks: by its process alone. dead tells how it ended, and is asked
// once it has.
func (r *reading) byProcess(k events.Peer, dead func() events.Reason) {
	switch proc.Check(identity(k)).Verdict {
	case proc.Dead:
		r.goes(k, reconcile.Going{Reason: dead()})
	case proc.Replaced:
		r.goes(k, reconcile.Going{Reason: events.Replaced})
	default:
		r.stays(k)
	}
}

func died() events.Reason { return events.Died }

// absent judges those whose record is not in the folder, which could be read.
func (r *reading) absent(hm *home, pid int, ks []events.Peer) {
	if len(ks) == 0 {
		delete(hm.slots, pid)
		return
	}
	s := hm.slot(pid)
	each(ks, func(k events.Peer) { r.unrecorded(s, k) })
}

// nobody judges those at whose spot there is a record of the kind that is no peer's.
func (r *reading) nobody(s *slot, what kind, ks []events.Peer) {
	s.kind = what
	each(ks, func(k events.Peer) { r.unrecorded(s, k) })
}

// unrecorded judges a known peer that has no record any more. One whose process lives on is given the grace: it is
// about to end, or about to write its record anew.
func (r *reading) unrecorded(s *slot, k events.Peer) {
	switch proc.Check(identity(k)).Verdict {
	case proc.Dead, proc.Replaced:
		r.goes(k, reconcile.Going{Reason: events.Exited})
	case proc.Alive:
		left := goneGrace - r.at.Sub(since(&s.goneSince, r.at))
		if left <= 0 {
			r.goes(k, reconcile.Going{Reason: events.Unregistered})
			return
		}
		r.stays(k)
		r.again(reconcile.Place{Home: k.Home, PID: k.PID}, left)
	default:
		r.stays(k)
	}
}

// broken judges those whose record cannot be read or makes no sense: nothing follows from that.
func (r *reading) broken(hm *home, s *slot, ks []events.Peer) {
	s.goneSince = time.Time{}
	place := reconcile.Place{Harness: events.Claude, Home: hm.path, PID: s.pid}
	if len(ks) == 0 {
		r.snap.Unread = append(r.snap.Unread, place)
	}
	each(ks, func(k events.Peer) { r.byProcess(k, func() events.Reason { return r.ending(hm, s) }) })
	if after := s.retry(); after > 0 && errors.Is(s.bad, ErrTorn) {
		r.again(place, after)
	}
}

// ending is how a process ended whose record was there when it was read. A process that quits takes its record away
// before it ends, so that a record which is still there after the end was left behind.
func (r *reading) ending(hm *home, s *slot) events.Reason {
	if _, err := os.Lstat(filepath.Join(hm.folder, fileName(s.pid))); errors.Is(err, fs.ErrNotExist) {
		return events.Exited
	}
	return events.Died
}

// parked judges those whose session was handed to a background job: they are not there, whatever became of the
// process. Who goes on with the conversation is worth waiting for.
func (r *reading) parked(hm *home, s *slot, ks []events.Peer) {
	s.kind = parked
	job := s.rec.Parked
	for _, k := range ks {
		if k.Session != s.rec.Session {
			r.switched(k, events.Ref{})
			continue
		}
		next, found := r.successor(job)
		left := parkedGrace - r.at.Sub(since(&s.parkedSince, r.at))
		if found || left <= 0 {
			delete(r.waiting, job)
			r.goes(k, reconcile.Going{Reason: events.Parked, Job: job, Successor: next})
			continue
		}
		place := reconcile.Place{Home: k.Home, PID: k.PID}
		r.waiting[job] = place
		r.stays(k)
		r.again(place, left)
	}
	if len(ks) == 0 {
		delete(r.waiting, job)
	}
}

// switched judges a known peer whose record is about another session now, in which next, if it is somebody, goes on.
func (r *reading) switched(k events.Peer, next events.Ref) {
	switch proc.Check(identity(k)).Verdict {
	case proc.Dead:
		r.goes(k, reconcile.Going{Reason: events.Died})
	case proc.Replaced:
		r.goes(k, reconcile.Going{Reason: events.Replaced})
	case proc.Alive:
		r.goes(k, reconcile.Going{Reason: events.Switched, Successor: next})
	default:
		r.stays(k)
	}
}

// successor is the live peer that is the job.
func (r *reading) successor(job string) (events.Ref, bool) {
	for _, hm := range r.homes {
		for _, s := range hm.slots {
			if !s.here || s.bad != nil || s.rec.Job != job || s.rec.Spare || s.rec.Parked != "" ||
				foreign(s.rec.Domain, r.domain, runtime.GOOS) {
				continue
			}
			if v := r.verdict(s, nil); v.Verdict == proc.Alive {
				p := events.Peer{PID: s.pid, Start: v.Start}
				return events.Ref{Session: s.rec.Session, Instance: p.Instance()}, true
			}
		}
	}
	return events.Ref{}, false
}
