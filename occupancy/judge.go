package occupancy

import (
	"slices"
	"time"

	"peerbus/events"
)

// Question asks who holds a thread.
type Question struct {
	Harness string `json:"harness"`
	Thread  string `json:"thread"`
}

// Evidence is all that a verdict rests on. The zero value is that nobody has looked, which is never attachable.
type Evidence struct {
	At       time.Time // when looking began
	Disabled bool      // the user wants no attaching
	Found    Found
	// Ours are the processes that the spawn ledger names.
	Ours []Process
}

// Found is what a look came to.
type Found struct {
	// Read is that everything was looked at where an owner could be: what was not understood is in Doubts. Without it
	// nothing is attachable.
	Read   bool
	Owners []Owner // SelfOwned is for [Judge] to say
	Doubts []Doubt
}

// Process is one process for as long as it lives: its pid, and when it started as the operating system counts.
type Process struct {
	PID   int
	Start string
}

// Judge is the verdict on the question, but for Host and Seq, which are the asked one's to fill in. What it says comes
// in this order: what is wrong with the question, that attaching is disabled, a live owner, the first doubt.
func Judge(q Question, ev Evidence) Verdict {
	v := Verdict{Time: events.At(ev.At), Owners: []Owner{}, Doubts: []Doubt{}}
	switch wrong := q.wrong(); {
	case wrong != "":
		v.Reason = wrong
	case ev.Disabled:
		v.Reason = AttachDisabled
	default:
		v.Owners = append(v.Owners, ownersOf(ev.Found, ev.Ours)...)
		v.Doubts = append(v.Doubts, ev.Found.Doubts...)
		v.Reason = weigh(v.Owners, v.Doubts)
		if v.Reason == "" && !ev.Found.Read {
			v.Reason = DetectorUnavailable
		}
	}
	v.Attachable = v.Reason == ""
	return v
}

// weigh is the reason that owners and doubts come to, "" where they are none.
func weigh(owners []Owner, doubts []Doubt) Reason {
	for _, o := range owners {
		if !o.SelfOwned {
			return LiveProcess
		}
	}
	if len(doubts) == 0 {
		return ""
	}
	if doubts[0].Reason == "" { // a doubt that nobody has named is one all the same
		return ProbeFailed
	}
	return doubts[0].Reason
}

// ownersOf are the owners that were found, each once, with whose they are.
func ownersOf(f Found, ours []Process) []Owner {
	var out []Owner
	for _, o := range f.Owners {
		o.SelfOwned = selfOwned(o, ours)
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// selfOwned tells whether the ledger has exactly this process. A start that was never read, "" or "0", names nobody.
func selfOwned(o Owner, ours []Process) bool {
	return o.PID > 0 && o.Start != "" && o.Start != "0" && slices.Contains(ours, Process{o.PID, o.Start})
}

// wrong is what is wrong with the question itself.
func (q Question) wrong() Reason {
	switch {
	case q.Harness != events.Claude && q.Harness != events.Codex:
		return UnsupportedProvider
	case !validThread(q.Thread):
		return InvalidThreadID
	}
	return ""
}

// validThread tells whether s is a UUID in its canonical form, lower case: 8-4-4-4-12 hex digits. It is asked before a
// path is built of s or s is compared with anything.
func validThread(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8, i == 13, i == 18, i == 23:
			if c != '-' {
				return false
			}
		case !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f'):
			return false
		}
	}
	return true
}
