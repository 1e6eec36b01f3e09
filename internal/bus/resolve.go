package bus

import (
	"errors"
	"fmt"
	"strings"

	"peerbus/events"
)

// ErrNoPeer is what [Resolve] answers where no live peer goes by what was given.
var ErrNoPeer = errors.New("no live peer is called that")

// AmbiguousError says that several live peers go by what was given.
type AmbiguousError struct {
	Ref        string
	Candidates []events.Peer // in the order of their IDs
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d live peers are called %.80q:", len(e.Candidates), e.Ref)
	for _, p := range e.Candidates {
		fmt.Fprintf(&b, " %s %q (pid %d", p.Harness, p.Session, p.PID)
		if p.Name != "" {
			fmt.Fprintf(&b, ", %q", p.Name)
		}
		b.WriteString(")")
	}
	return b.String()
}

// minPrefix is how many characters of a session id stand for it: the first group of a UUID.
const minPrefix = 8

// Resolve is the one live peer that ref means: a cc-peer endpoint; a session id; else a name, or the first 8 or more
// characters of a session id. The error is [ErrNoPeer], or an [AmbiguousError] where several are meant, which two
// live processes with one session are.
func Resolve(view events.View, ref string) (events.Last, error) {
	var exact, loose []events.Last
	for _, id := range view.IDs() {
		last := view[id]
		p := last.Peer()
		switch {
		case ref == "":
		case p.Session == ref, p.Endpoint == ref:
			exact = append(exact, last)
		case p.Name == ref, len(ref) >= minPrefix && strings.HasPrefix(p.Session, ref):
			loose = append(loose, last)
		}
	}
	found := exact
	if len(found) == 0 {
		found = loose
	}
	switch len(found) {
	case 0:
		return events.Last{}, fmt.Errorf("%w: %.80q", ErrNoPeer, ref)
	case 1:
		return found[0], nil
	}
	ambiguous := &AmbiguousError{Ref: ref}
	for _, last := range found {
		ambiguous.Candidates = append(ambiguous.Candidates, last.Peer())
	}
	return events.Last{}, ambiguous
}
