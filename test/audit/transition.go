package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"peerbus/events"
)

// holder is a process as its harness's home knows it.
type holder struct {
	home, start string
	pid         int
}

// switched is a process that left a session for another one.
type switched struct {
	by  events.ID
	at  events.Time
	seq uint64
}

const never events.Time = math.MaxInt64

var reasons = []events.Reason{
	events.Exited, events.Unregistered, events.Died, events.Replaced, events.Parked, events.Switched, events.RenamedHost,
}

// transition holds an event against the state that the log before it left, and leaves its own.
func (a *auditor) transition(e events.Event) {
	p, ok := events.PeerOf(e)
	if !ok {
		return
	}
	id := subject(e)
	old, there := a.there[id]
	forgotten := !a.whole && !a.known[id]
	switch e := e.(type) {
	case events.PeerAppeared:
		if there {
			a.add(AppearedTwice, id, "")
		}
	case events.PeerGone:
		a.gone(e, there || forgotten)
		if there {
			a.same(id, old, p)
		}
	case events.PeerPresent:
		a.present(id, there || forgotten)
		if there {
			a.same(id, old, p)
		}
	case events.StatusChanged:
		a.present(id, there || forgotten)
		a.fields(e.Was, old, p, there)
		a.only(e.Was, isStatus)
		if !slices.ContainsFunc(changed(e.Was, p), isStatus) {
			a.add(SameStatus, id, "")
		}
	case events.PeerChanged:
		a.present(id, there || forgotten)
		a.fields(e.Was, old, p, there)
		a.only(e.Was, func(key string) bool { return !isStatus(key) })
		if len(changed(e.Was, p)) == 0 {
			a.add(Nothing, id, "")
		}
	}
	a.keep(e, id, p)
}

func (a *auditor) gone(e events.PeerGone, there bool) {
	id := subject(e)
	if !there {
		a.add(GoneTwice, id, "")
	}
	if !slices.Contains(reasons, e.Reason) {
		a.add(NoReason, id, "%q", e.Reason)
	}
	if e.Reason == events.Switched {
		next := id
		next.Session = e.Successor.Session
		a.awaited[next] = switched{by: id, at: e.Meta.Time, seq: a.now.Seq}
	}
}

func (a *auditor) present(id events.ID, there bool) {
	if !there {
		a.add(NotThere, id, "")
	}
}

// same checks an event that changes nothing about a peer.
func (a *auditor) same(id events.ID, old, now events.Peer) {
	if d := differing(old, now); len(d) > 0 {
		a.add(Undeclared, id, "%s", strings.Join(d, ", "))
	}
}

// fields checks that was holds the old value of every field that is another one now, and of no other. What was before
// is known only of a peer that the log has named.
func (a *auditor) fields(w events.Was, old, now events.Peer, there bool) {
	id := now.ID(a.now.Event.Head().Host)
	restored := now
	for _, key := range w.Fields {
		before := restored
		switch {
		case !put(&restored, w.Old, key):
			a.add(WrongWas, id, "no peer has a %q", key)
		case restored == before:
			a.add(WrongWas, id, "%s is what it was", key)
		case there && slices.Contains(differing(old, restored), key):
			a.add(WrongWas, id, "%s was another one", key)
			put(&restored, old, key)
		}
	}
	if there {
		a.same(id, old, restored)
	}
}

// only checks that an event is about its own fields.
func (a *auditor) only(w events.Was, own func(key string) bool) {
	for _, key := range w.Fields {
		if key != sinceField && !own(key) {
			a.add(Misplaced, subject(a.now.Event), "%s", key)
		}
	}
}

func isStatus(key string) bool { return slices.Contains(statusFields, key) }

// keep takes over the state that the event leaves.
func (a *auditor) keep(e events.Event, id events.ID, p events.Peer) {
	a.known[id] = true
	h := holder{home: p.Home, start: p.Start, pid: p.PID}
	if _, gone := e.(events.PeerGone); gone {
		delete(a.there, id)
		if a.holders[h] == id {
			delete(a.holders, h)
		}
		return
	}
	a.there[id] = p
	delete(a.awaited, id)
	if p.Harness != events.Claude {
		return // a Codex process holds many threads
	}
	if other, ok := a.holders[h]; ok && other != id {
		a.add(TwoSessions, id, "and %s", other.Session)
	}
	a.holders[h] = id
}

// successors checks that a session that was switched to has appeared by the same look, all of whose events bear one
// time.
func (a *auditor) successors(now events.Time) {
	var missing []Problem
	for next, s := range a.awaited {
		if s.at != now {
			delete(a.awaited, next)
			missing = append(missing, Problem{Seq: s.seq, Kind: NoSuccessor, Peer: s.by, Text: fmt.Sprintf("to %q", next.Session)})
		}
	}
	slices.SortFunc(missing, func(a, b Problem) int { return cmp.Compare(a.Seq, b.Seq) })
	a.problems = append(a.problems, missing...)
}
