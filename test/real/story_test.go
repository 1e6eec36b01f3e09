package real

import (
	"cmp"
	"fmt"

	"peerbus/events"
)

// story is a log in words, a line for each event that a user would want to hear of. A change that is not one of the
// name has no line: clients touch the rest of their records as they like.
//
// A record is born without a status. Where the client takes its time to add one, the peer appears without, which is no
// more than an early look: the story tells it with the status that it is given first.
func (w *watcher) story(log []events.Last) []string {
	var lines []string
	bare := map[events.ID]bool{}
	for _, l := range log {
		if p, ok := events.PeerOf(l.Event); ok {
			id := p.ID(l.Event.Head().Host)
			if _, appeared := l.Event.(events.PeerAppeared); appeared && p.VendorStatus == "" {
				bare[id] = true
				continue
			}
			if e, ok := l.Event.(events.StatusChanged); ok && bare[id] {
				delete(bare, id)
				l.Event = events.PeerAppeared{Meta: e.Meta, Peer: e.Peer}
			}
		}
		if line := w.line(l.Event); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (w *watcher) line(e events.Event) string {
	p, _ := events.PeerOf(e)
	who := cmp.Or(w.names[p.PID], fmt.Sprintf("%s %d", p.Kind, p.PID))
	switch e := e.(type) {
	case events.WatchResumed:
		return "watch resumed: " + string(e.Why)
	case events.PeerAppeared:
		return who + " appeared: " + doing(p)
	case events.StatusChanged:
		return who + ": " + doing(p)
	case events.PeerChanged:
		if e.Was.Has("name") {
			return who + " renamed: " + e.Was.Old.Name + " to " + p.Name
		}
		return ""
	case events.PeerGone:
		return who + " gone: " + ending(e)
	}
	return fmt.Sprintf("%T", e)
}

func ending(e events.PeerGone) string {
	s := string(e.Reason)
	if e.Job != "" {
		s += " to job " + e.Job
	}
	if e.Missed {
		s += ", missed"
	}
	return s
}

// doing is a status, with the client's own word for it where that is another one.
func doing(p events.Peer) string {
	s := string(p.Status)
	if p.VendorStatus != s {
		s += "/" + p.VendorStatus
	}
	if p.WaitingFor != "" {
		s += " for " + p.WaitingFor
	}
	return s
}
