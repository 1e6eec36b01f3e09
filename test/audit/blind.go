package audit

import (
	"slices"

	"peerbus/events"
)

var whys = []events.Blindness{events.Start, events.Sleep, events.Overflow, events.Folder}

// blindness holds an event against the times in which nobody watched. A blindness is counted from when everything was
// last seen, so that the events before it may be younger.
func (a *auditor) blindness(e events.Event) {
	at := e.Head().Time
	for _, r := range a.resumed {
		if r.BlindFrom < at && at < r.BlindTo {
			a.add(WhileBlind, subject(e), "at %v, nobody watched from %v to %v", at, r.BlindFrom, r.BlindTo)
		}
	}
	switch e := e.(type) {
	case events.WatchResumed:
		a.resume(e)
	case events.PeerGone:
		a.missed(e)
	default:
		a.since, a.unsure = nil, false
	}
	if a.whole && a.before == nil && len(a.resumed) == 0 {
		a.add(WhileBlind, subject(e), "before anybody began to watch")
	}
}

func (a *auditor) resume(r events.WatchResumed) {
	switch {
	case !slices.Contains(whys, r.Why):
		a.add(Blindness, events.ID{}, "for the reason %q", r.Why)
	case r.BlindFrom > r.BlindTo:
		a.add(Blindness, events.ID{}, "it ends at %v, before it begins at %v", r.BlindTo, r.BlindFrom)
	}
	from := r.BlindFrom
	if a.since != nil && a.look == r.Meta.Time && *a.since != 0 && (from == 0 || from > *a.since) {
		from = *a.since
	}
	a.resumed, a.unsure = append(a.resumed, r), false
	a.since, a.look = &from, r.Meta.Time
}

// missed checks a going. Only the first look after a blindness finds any that were missed; they follow the blindness
// at once and bear its time.
func (a *auditor) missed(e events.PeerGone) {
	id := subject(e)
	switch {
	case !e.Missed:
		if e.NotBefore != 0 {
			a.add(Missed, id, "not_before without missed")
		}
		a.since, a.unsure = nil, false
	case a.since == nil && !a.unsure:
		a.add(Missed, id, "missed, and no blindness before it")
	case a.since != nil && e.Meta.Time != a.look:
		a.add(Missed, id, "missed at a later look than the first")
	case a.since != nil && e.NotBefore != *a.since:
		a.add(Missed, id, "not before %v, blind since %v", e.NotBefore, *a.since)
	}
}

// subject is the peer that e is about, zero if none.
func subject(e events.Event) events.ID {
	p, ok := events.PeerOf(e)
	if !ok {
		return events.ID{}
	}
	return p.ID(e.Head().Host)
}
