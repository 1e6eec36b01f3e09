package reconcile

import (
	"context"
	"fmt"
	"time"

	"peerbus/events"
)

// publish stores the events and applies what was stored: the view is what the log says, never what was seen.
func (l *Loop) publish(ctx context.Context, evs []events.Event, began time.Time) error {
	evs = l.acceptable(evs)
	if len(evs) == 0 {
		return nil
	}
	stored, err := l.Log.Publish(ctx, evs)
	for _, last := range stored {
		l.view.Apply(last.Seq, last.Event)
		l.Each(last)
	}
	if err != nil {
		return fmt.Errorf("publish %d events: %w", len(evs), err)
	}
	l.refuse(evs, stored)
	l.stats.update(func(s *Stats) {
		s.Published += uint64(len(stored))
		s.Refused += uint64(len(evs) - len(stored))
		s.Lag = time.Since(began)
	})
	return nil
}

// acceptable leaves out what the log has refused for its content, so that it is not offered again at every sweep.
func (l *Loop) acceptable(evs []events.Event) []events.Event {
	if len(l.refused) == 0 {
		return evs
	}
	var out []events.Event
	for _, e := range evs {
		p, ok := events.PeerOf(e)
		if refused, was := l.refused[p.ID("")]; ok && was && refused == p {
			continue
		}
		out = append(out, e)
	}
	return out
}

// refuse remembers the peers whose events are not among those stored.
func (l *Loop) refuse(sent []events.Event, stored []events.Last) {
	for _, e := range sent {
		p, ok := events.PeerOf(e)
		if len(stored) > 0 && stored[0].Event.Subject() == e.Subject() {
			stored = stored[1:]
			delete(l.refused, p.ID(""))
		} else if ok {
			l.refused[p.ID("")] = p
		}
	}
}

// forget drops what was refused of peers that were looked for and are not there any more. Of one that the log has, its
// going is published first.
func (l *Loop) forget(s Snapshot) {
	if len(l.refused) == 0 {
		return
	}
	seen := s.seen()
	for id, p := range l.refused {
		_, there := l.view[p.ID(l.Host)]
		if !there && !seen.has(p) && s.covers(p) && !holdsAny(s.Unread, p) {
			delete(l.refused, id)
		}
	}
}

// present repeats the peers about which nothing was published for so long that the log may forget them.
func (l *Loop) present(ctx context.Context) error {
	now := l.Now()
	if since := now.Sub(l.checked); since >= 0 && since < presentCheck {
		return nil
	}
	l.checked = now
	older, err := l.Older(ctx)
	if err != nil {
		return fmt.Errorf("ask what the log retains: %w", err)
	}
	var evs []events.Event
	for _, id := range l.view.IDs() {
		last := l.view[id]
		if id.Host == l.Host && (last.Seq < older || now.Sub(last.Event.Head().Time.Std()) >= presentEvery) {
			meta := events.Meta{Time: events.At(now), Host: l.Host}
			evs = append(evs, events.PeerPresent{Meta: meta, Peer: last.Peer()})
		}
	}
	return l.publish(ctx, evs, time.Now())
}
