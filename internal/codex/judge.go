package codex

import (
	"slices"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
)

// judge says of everybody who is known to hold that thread, and of those who are seen to, whether they are there.
func (r *reading) judge(hm *home, id string) {
	ks := r.known[spot{hm, id}]
	t := hm.threads[id]
	switch {
	case hm.state == doubled:
		// Until just now a home of its own: next time they are looked for in the home that counts.
		each(ks, r.stays)
	case hm.state != there:
		each(ks, func(k events.Peer) { r.byProcess(k, events.Replaced) })
	case t == nil:
		each(ks, func(k events.Peer) { r.goes(k, events.Exited) })
	case !t.here:
		each(ks, func(k events.Peer) { r.goes(k, events.Exited) })
		delete(hm.threads, id)
	default:
		t.news = false
		r.held(hm, t, ks)
	}
}

func each(ks []events.Peer, do func(events.Peer)) {
	for _, k := range ks {
		do(k)
	}
}

// byProcess judges a known peer of which no lock speaks: by its process alone.
func (r *reading) byProcess(k events.Peer, replaced events.Reason) {
	switch r.asked.check(identity(k)) {
	case proc.Dead:
		r.goes(k, events.Died)
	case proc.Replaced:
		r.goes(k, replaced)
	default:
		r.stays(k)
	}
}

// held judges those who are seen or known to hold a thread whose lock is in the folder.
func (r *reading) held(hm *home, t *thread, ks []events.Peer) {
	var told []proc.Identity
	for _, h := range t.holders[:len(t.holders):len(t.holders)] {
		if h.state != sure && h.state != assumed {
			continue
		}
		if v := r.alive(h.who); v == proc.Dead || v == proc.Replaced {
			t.lose(h, asking{r, hm}.ending(t))
			t.wait(time.Now()) // somebody else may have the lock
			continue
		}
		if h.state == assumed || !h.missed.IsZero() {
			continue
		}
		hm.daemon.holds(h.who.PID)
		p := r.peer(hm, t, h.who, ks)
		if r.covers(p) {
			r.snap.Peers = append(r.snap.Peers, p)
			told = append(told, h.who)
		}
	}
	for _, k := range ks {
		who := identity(k)
		switch why := t.lostFor(who); {
		case slices.ContainsFunc(told, func(id proc.Identity) bool { return same(id, who) }):
		case t.holder(who) != nil:
			r.stays(k)
		case why != "":
			r.goes(k, why)
		default:
			r.byProcess(k, events.Died)
		}
	}
	t.forget(ks)
}

// alive asks what the process is by now, and has its death told if it lives.
func (r *reading) alive(who proc.Identity) proc.Verdict {
	v := r.asked.check(who)
	if v == proc.Alive || v == proc.Unknown {
		v = r.pin(who)
	}
	return v
}

// forget drops those who were lost and whom the log does not have any more.
func (t *thread) forget(ks []events.Peer) {
	for id := range t.lost {
		if !slices.ContainsFunc(ks, func(k events.Peer) bool { return same(identity(k), id) }) {
			delete(t.lost, id)
		}
	}
	t.news = false
}

// strays judges the known peers of homes that are not looked at: by their processes alone.
func (r *reading) strays() {
	for _, p := range r.stray {
		if r.covers(p) {
			r.byProcess(p, events.Replaced)
		}
	}
}
