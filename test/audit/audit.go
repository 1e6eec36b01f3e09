// Package audit holds a log of events against what can happen at all. It knows nothing of the world that the log tells
// of: a log without a problem is possible, which is less than true.
package audit

import (
	"fmt"

	"peerbus/events"
)

// Kind is a way in which a log can be impossible.
type Kind string

// The kinds of problems.
const (
	Order         Kind = "the sequence does not increase"
	Repeated      Kind = "the event's id was used before"
	OtherHost     Kind = "the event is of another host than the first"
	OtherEpoch    Kind = "the event is of another epoch than the first"
	AppearedTwice Kind = "appeared though it was there"
	NotThere      Kind = "something is said of a peer that is not there"
	GoneTwice     Kind = "gone without being there"
	NoReason      Kind = "gone for no known reason"
	SameStatus    Kind = "StatusChanged with none of status, vendor_status, waiting_for changed"
	Nothing       Kind = "PeerChanged with nothing changed"
	Misplaced     Kind = "a field changed in an event that is not for it"
	WrongWas      Kind = "was is not the state before"
	Undeclared    Kind = "a field is another one and was does not name it"
	TwoSessions   Kind = "one process holds two sessions at once"
	NoSuccessor   Kind = "switched to a session that does not appear"
	Missed        Kind = "missed or not_before do not fit the blindness before"
	Blindness     Kind = "a blindness that cannot have been"
	WhileBlind    Kind = "seen while nobody watched"
)

// Problem is one event that cannot have happened as the log before it stands.
type Problem struct {
	Seq  uint64
	Kind Kind
	Peer events.ID // zero where it is not about a peer
	Text string    // more about it, may be empty
}

// String is the problem in one line.
func (p Problem) String() string {
	s := fmt.Sprintf("seq %d: %s", p.Seq, p.Kind)
	if p.Peer != (events.ID{}) {
		s += fmt.Sprintf(": %s %s %d-%s", p.Peer.Harness, p.Peer.Session, p.Peer.PID, p.Peer.Start)
	}
	if p.Text != "" {
		s += ": " + p.Text
	}
	return s
}

// Audit finds every invalid transition in a log of one host, in the order of the log. A log that starts at sequence 1
// is whole. Of any other the beginning was forgotten, and a peer that it has not named before may be in any state.
//
// It takes the times of events as they are: a clock that was set meanwhile, and a second loop that watched while the
// first did not, can be reported as [WhileBlind].
func Audit(log []events.Last) []Problem {
	a := auditor{
		whole:   len(log) > 0 && log[0].Seq == 1,
		ids:     make(map[string]uint64),
		known:   make(map[events.ID]bool),
		there:   make(map[events.ID]events.Peer),
		holders: make(map[holder]events.ID),
		awaited: make(map[events.ID]switched),
	}
	a.unsure = !a.whole
	for _, l := range log {
		a.now = l
		a.head(l.Event.Head())
		a.successors(l.Event.Head().Time)
		a.blindness(l.Event)
		a.transition(l.Event)
		a.before = &l
	}
	a.successors(never)
	return a.problems
}

type auditor struct {
	whole  bool
	first  *events.Meta
	before *events.Last
	now    events.Last

	ids     map[string]uint64
	known   map[events.ID]bool // named before, there or not
	there   map[events.ID]events.Peer
	holders map[holder]events.ID
	awaited map[events.ID]switched

	resumed []events.WatchResumed // all so far
	since   *events.Time          // while only missed goings follow a blindness: from when it was
	look    events.Time           // when that blindness was told
	unsure  bool                  // only missed goings so far, in a log whose beginning was forgotten

	problems []Problem
}

func (a *auditor) add(kind Kind, peer events.ID, format string, args ...any) {
	a.problems = append(a.problems, Problem{Seq: a.now.Seq, Kind: kind, Peer: peer, Text: fmt.Sprintf(format, args...)})
}

// head checks what every event says of itself.
func (a *auditor) head(m events.Meta) {
	if a.before != nil && a.now.Seq <= a.before.Seq || a.now.Seq == 0 {
		a.add(Order, events.ID{}, "")
	}
	if seq, used := a.ids[m.ID]; used {
		a.add(Repeated, events.ID{}, "%q by seq %d", m.ID, seq)
	}
	a.ids[m.ID] = a.now.Seq
	if a.first == nil {
		a.first = &m
	}
	if m.Host != a.first.Host {
		a.add(OtherHost, events.ID{}, "%q after %q", m.Host, a.first.Host)
	}
	if m.Epoch != a.first.Epoch {
		a.add(OtherEpoch, events.ID{}, "%q after %q", m.Epoch, a.first.Epoch)
	}
}
