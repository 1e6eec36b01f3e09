package follow

import (
	"context"

	"github.com/nats-io/nats.go"

	"peerbus/events"
)

// Filter says which events to tell. Its zero value says all of the connected server's own host.
type Filter struct {
	// Host is the name of the host to follow, "" for the one that the server is named after, also when it comes back
	// with another name.
	Host string
	// Harness and Session leave out the events about other peers. A WatchResumed is about no peer and is told.
	Harness string
	Session string
}

func (f Filter) takes(e events.Event) bool {
	p, ok := events.PeerOf(e)
	return !ok || (f.Harness == "" || f.Harness == p.Harness) && (f.Session == "" || f.Session == p.Session)
}

// Change is one thing that is told. It is one of four: a peer that is there (Snapshot is set), the end of the peers
// that are there (Ready), an event (neither), or a loss (Lost).
type Change struct {
	// Seq is the event's sequence in the log; with Ready that of the last event that the peers told before it
	// reflect, which is greater than that of any of them when it was another peer's. It is 0 with Lost.
	Seq uint64
	// Event is the last event about the peer, with Snapshot, or what happened. It is nil with Ready and Lost.
	Event    events.Event
	Snapshot bool
	Ready    bool
	// Lost says that some events will not be told. What was told before is to be forgotten: the peers that are there
	// now follow, and another Ready.
	Lost *Gap
}

// Gap is a range of sequences whose events are not told, both ends included. Both are 0 where the history has
// started anew, and the sequences of the old one mean nothing, or where the host goes on under another name.
type Gap struct {
	From, To uint64
	Why      string
}

// Follow calls each for the peers that are there now, in no particular order, once with Ready, and from then on for
// every event in the order of the log, until ctx ends, whose cause it returns. An error from each ends it too and is
// returned as it is. Every event after the Ready is told once; one that is lost on the way, or that each was too slow
// for, is fetched from the log before any later one is told. What the log holds no more is told as Lost; so is another
// history, as when a server was killed before an event that it had sent was on disk, and so is another name of the
// host where the filter names none.
//
// Follow waits for a watcher that is not there and carries on after the server, the watcher, or the network has been
// away, as long as nc reconnects; a connection that is closed ends it with [nats.ErrConnectionClosed]. An event that
// nothing follows is told within 4 s even if its message was lost. Messages that are no events known here are
// passed over.
//
// each is called by one goroutine at a time, which is Follow's own. Follow keeps 1,024 messages for it while it is
// busy. A connection whose role is not the operator's must have the inbox prefix "_INBOX.<role>": it can get no answers
// at any other.
func Follow(ctx context.Context, nc *nats.Conn, f Filter, each func(Change) error) error {
	return newFollower(nc, f, pending, each).run(ctx)
}
