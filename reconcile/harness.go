package reconcile

import (
	"context"
	"time"

	"peerbus/events"
)

// Harness reads what one agent program tells of its sessions.
type Harness interface {
	// Name is the harness as it stands in [events.Peer.Harness].
	Name() string

	// Read looks at the places, all of this harness's or one by one, and returns what it saw; an empty list means
	// everything. known are the peers of this harness that the log says are there, in and out of the places: for
	// each of them within the places the snapshot has it in Peers, its place in Unread, or its reason in Gone.
	// Read is called by one goroutine at a time and returns soon; it does not wait for a torn record to heal but
	// asks for another look by Snapshot.Again. It leaves Snapshot.Host and Snapshot.Of to the caller, and sets At.
	Read(ctx context.Context, of []Place, known []events.Peer) Snapshot

	// Watch calls wake with each place in which something may have changed, until ctx ends, whose cause it returns.
	// A place that it cannot watch is no error: sweeps find what happens there.
	Watch(ctx context.Context, wake func(Place)) error

	// Explain gathers now what speaks for and against p being there. It may be called beside Read.
	Explain(ctx context.Context, p events.Peer) Explanation

	// Facts says what can be seen and what cannot, and why. It may be called beside Read.
	Facts() []Fact
}

// Explanation is why a peer is taken to be there, or not.
type Explanation struct {
	Verdict  string // alive, dead, replaced or unknown
	Evidence []Evidence
}

// Evidence is one thing that was looked at.
type Evidence struct {
	Source string      `json:"source"` // what was asked: "record", "process", "socket"
	About  string      `json:"about"`  // which one: a path, a pid
	Says   string      `json:"says"`
	Time   events.Time `json:"time,omitzero"`
	OK     bool        `json:"ok"` // it speaks for the peer being there
}

// Fact is one line of a doctor's report.
type Fact struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Fact  string `json:"fact"`
	Hint  string `json:"hint,omitzero"` // what to do, where something is to be done
}

// Log is where events are kept.
type Log interface {
	// Fold reads the log to its end and returns what it says is there, and when its last event was. A peer that an
	// earlier Fold or Publish had there stays while the log has nothing about it: it is forgotten, not gone.
	Fold(ctx context.Context) (events.View, time.Time, error)

	// Publish stores the events behind the last one that was folded or published, all or none of each 1,000, and
	// returns them as stored: with their sequences, and stamped. It answers [ErrConflict] when somebody else has
	// written meanwhile; then nothing was stored and the caller folds anew. That the last one is forgotten is no
	// conflict. Events that the log refuses for their content are left out of what is returned, and counted.
	Publish(ctx context.Context, evs []events.Event) ([]events.Last, error)
}
