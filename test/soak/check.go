package main

import (
	"time"

	"peerbus/events"
	"peerbus/test/soak/world"
)

// checker holds every single event against the truth.
type checker struct {
	*report
	world   *world.World
	latency durations
}

// event checks an event when it is heard: the zero time is one that is only read again from the log.
func (c *checker) event(l events.Last, heard time.Time) {
	p, ok := events.PeerOf(l.Event)
	if !ok {
		return
	}
	life, ok := c.world.Life(p.ID(""))
	if !ok {
		c.failf("seq %d: %T of a peer that never was: %s", l.Seq, l.Event, show(p))
		return
	}
	if gone, ok := l.Event.(events.PeerGone); ok {
		c.gone(l.Seq, gone, life)
		return
	}
	said, ok := c.world.Said(p.ID(""), p.StatusSince)
	switch {
	case !ok:
		c.failf("seq %d: %T with a status_since that never was: %s", l.Seq, l.Event, show(p))
		return
	case said.Status != p.Status || said.VendorStatus != p.VendorStatus || said.WaitingFor != p.WaitingFor:
		c.failf("seq %d: %T with a status that never was: %s, said was %+v", l.Seq, l.Event, show(p), said)
	case !c.world.Names(p.ID(""))[p.Name]:
		c.failf("seq %d: %T with a name that never was: %s", l.Seq, l.Event, show(p))
	}
	if _, ok := l.Event.(events.StatusChanged); ok && !heard.IsZero() {
		c.latency.add(heard.Sub(said.At))
	}
}

func (c *checker) gone(seq uint64, e events.PeerGone, life world.Life) {
	switch {
	case life.Here():
		c.failf("seq %d: PeerGone{%s} of a live session: %s", seq, e.Reason, who(e.Peer))
	case !life.MayBeGone(e.Reason, events.At(time.Now())):
		c.failf("seq %d: PeerGone{%s}, the truth is %s: %s", seq, e.Reason, how(life), who(e.Peer))
	case !life.MayBeGone(e.Reason, e.Meta.Time):
		c.failf("seq %d: PeerGone{%s} at %v, before it went, the truth is %s: %s", seq, e.Reason, e.Meta.Time, how(life), who(e.Peer))
	}
	if e.Reason != events.Switched {
		return
	}
	next := e.Peer.ID("")
	next.Session = e.Successor.Session
	if _, ok := c.world.Life(next); !ok || e.Successor.Instance != e.Peer.Instance() {
		c.failf("seq %d: PeerGone{switched} to %+v, which never was: %s", seq, e.Successor, who(e.Peer))
	}
}

// how is how a life ended, for people.
func how(l world.Life) string {
	text := ""
	if l.Left != nil {
		text += " left at " + events.At(l.Left.From).String()
	}
	if l.End != nil {
		text += " " + string(l.Reason) + " at " + events.At(l.End.From).String()
	}
	if text == "" {
		return "alive"
	}
	return text[1:]
}
