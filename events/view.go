package events

import (
	"cmp"
	"slices"
)

// View is the fold of a log: the peers that it says are there, each with the last event about it.
type View map[ID]Last

// Last is the last event about a peer that is there.
type Last struct {
	Seq   uint64
	Event Event
}

// Peer is the peer as the event left it.
func (l Last) Peer() Peer {
	p, _ := PeerOf(l.Event)
	return p
}

// Apply takes the next event of the log, which has the stream sequence seq: [PeerGone] takes the peer out, every
// other event about a peer puts it in, whether or not it was there. Events must come in the order of their sequence.
func (v View) Apply(seq uint64, e Event) {
	p, ok := PeerOf(e)
	if !ok {
		return
	}
	id := p.ID(e.Head().Host)
	if _, gone := e.(PeerGone); gone {
		delete(v, id)
		return
	}
	v[id] = Last{Seq: seq, Event: e}
}

// IDs are the peers that are there, sorted.
func (v View) IDs() []ID {
	ids := make([]ID, 0, len(v))
	for id := range v {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, ID.Compare)
	return ids
}

// Compare orders IDs by host, harness, session, pid and start.
func (a ID) Compare(b ID) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Harness, b.Harness), cmp.Compare(a.Session, b.Session),
		cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
}
