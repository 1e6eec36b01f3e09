package main

import (
	"slices"
	"time"

	"peerbus/events"
	"peerbus/test/soak/world"
)

// outage is a time in which nobody watched.
type outage struct{ from, to time.Time }

// outages are the times between a watcher's death and the next look at the world. The deaths are in order.
func outages(log []events.Last, deaths []time.Time) []outage {
	var out []outage
	for _, l := range log {
		r, ok := l.Event.(events.WatchResumed)
		if !ok {
			continue
		}
		to := r.BlindTo.Std()
		after, _ := slices.BinarySearchFunc(deaths, to, time.Time.Compare)
		if after > 0 {
			out = append(out, outage{deaths[after-1], to})
		}
	}
	return out
}

// checkMissed checks what is said of those that went while no watcher ran, and returns how many are said to have.
func checkMissed(r *report, log []events.Last, lives map[events.ID]world.Life, outages []outage) (missed int) {
	for _, l := range log {
		gone, ok := l.Event.(events.PeerGone)
		if !ok {
			continue
		}
		life := lives[gone.Peer.ID("")]
		if gone.Missed {
			missed++
			if went := events.At(life.Gone()); went == 0 || gone.NotBefore > went {
				r.failf("seq %d: PeerGone not before %v, the truth is %s, gone by %v: %s",
					l.Seq, gone.NotBefore, how(life), went, who(gone.Peer))
			}
			continue
		}
		// Whether a session was left shows in its record alone, which the first look may meet half-written.
		if o, within := during(outages, life); within && life.Left == nil {
			r.failf("seq %d: PeerGone without missed, and nobody watched from %v to %v; the truth is %s: %s",
				l.Seq, events.At(o.from), events.At(o.to), how(life), who(gone.Peer))
		}
	}
	return missed
}

// during is the outage within which all of a going happened, if one is.
func during(outages []outage, l world.Life) (outage, bool) {
	for _, o := range outages {
		if !l.Gone().IsZero() && l.Going().After(o.from) && l.Gone().Before(o.to) {
			return o, true
		}
	}
	return outage{}, false
}
