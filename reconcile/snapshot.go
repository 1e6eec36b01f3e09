package reconcile

import (
	"time"

	"peerbus/events"
)

// Place names a part of the world that a harness reads as one: a home, a record in it, a thread. A zero field matches
// anything, so that Place{Harness: "claude", Home: h} is the whole home.
type Place struct {
	Harness string
	Home    string
	PID     int
	Session string
}

// Holds tells whether p is in the place.
func (pl Place) Holds(p events.Peer) bool {
	return (pl.Harness == "" || pl.Harness == p.Harness) &&
		(pl.Home == "" || pl.Home == p.Home) &&
		(pl.PID == 0 || pl.PID == p.PID) &&
		(pl.Session == "" || pl.Session == p.Session)
}

// Snapshot is what was seen at one instant: of everything, or of a few places.
type Snapshot struct {
	At   time.Time
	Host string
	// Of is the scope: the places that were looked at. Empty means everything.
	Of []Place
	// Peers are those that are there.
	Peers []events.Peer
	// Unread are the places within the scope that could not be read: whoever the log has there stays.
	Unread []Place
	// Gone says why a peer that the log may have within the scope is not there, by its ID with an empty host. A
	// peer that is neither in Peers nor in Gone stays, since nothing speaks for its going; the one exception is a
	// process that is in Peers with another session, which has switched.
	Gone map[events.ID]Going
	// Blind says when nobody watched.
	Blind []Blind
	// Again asks for another look at a place after some time, at the latest: a record was torn, or a grace runs.
	Again []Again
}

// Going is the evidence for a PeerGone.
type Going struct {
	Reason    events.Reason
	Job       string
	Successor events.Ref
}

// Blind is a time in which nobody watched.
type Blind struct {
	From, To time.Time
	Why      events.Blindness
}

// Again asks for a look at a place after a while.
type Again struct {
	Place Place
	After time.Duration
}

func (s Snapshot) covers(p events.Peer) bool { return len(s.Of) == 0 || holdsAny(s.Of, p) }

func holdsAny(places []Place, p events.Peer) bool {
	for _, pl := range places {
		if pl.Holds(p) {
			return true
		}
	}
	return false
}
