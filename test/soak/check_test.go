package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/test/audit"
	"peerbus/test/soak/world"
)

func TestCheckerFindsWhatIsNotSo(t *testing.T) {
	w, p := live(t)
	with := func(change func(*events.Peer)) events.Peer {
		q := p
		change(&q)
		return q
	}
	for name, tc := range map[string]struct {
		event events.Event
		want  []string
	}{
		"true":       {events.PeerAppeared{Peer: p}, nil},
		"no peer":    {events.WatchResumed{}, nil},
		"never was":  {events.PeerAppeared{Peer: with(func(p *events.Peer) { p.PID++ })}, []string{"never was"}},
		"alive":      {events.PeerGone{Peer: p, Reason: events.Died}, []string{"of a live session"}},
		"no time":    {events.StatusChanged{Peer: with(func(p *events.Peer) { p.StatusSince++ })}, []string{"status_since that never was"}},
		"no status":  {events.StatusChanged{Peer: with(func(p *events.Peer) { p.VendorStatus = "asleep" })}, []string{"status that never was"}},
		"no waiting": {events.StatusChanged{Peer: with(func(p *events.Peer) { p.WaitingFor += "x" })}, []string{"status that never was"}},
		"no name":    {events.PeerChanged{Peer: with(func(p *events.Peer) { p.Name = "x" })}, []string{"name that never was"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, out := told()
			(&checker{report: r, world: w}).event(events.Last{Seq: 7, Event: tc.event}, time.Now())
			expect(t, r, out, tc.want...)
		})
	}
}

func TestCheckerFindsWrongGoings(t *testing.T) {
	w, p := live(t)
	at := time.Now().Add(-time.Minute)
	left := world.Life{Left: &world.Span{From: at, To: at}}
	died := world.Life{End: &world.Span{From: at, To: at}, Reason: events.Died}
	to := func(session string) events.Ref { return events.Ref{Session: session, Instance: p.Instance()} }
	for name, tc := range map[string]struct {
		life world.Life
		gone events.PeerGone
		want []string
	}{
		"died":                 {died, events.PeerGone{Reason: events.Died}, nil},
		"exited":               {died, events.PeerGone{Reason: events.Exited}, []string{"the truth is died"}},
		"too early":            {died, events.PeerGone{Reason: events.Died, Meta: events.Meta{Time: events.At(at) - 1}}, []string{"before it went"}},
		"switched":             {left, events.PeerGone{Reason: events.Switched, Successor: to(p.Session)}, nil},
		"switched to nobody":   {left, events.PeerGone{Reason: events.Switched}, []string{"which never was"}},
		"switched to a ghost":  {left, events.PeerGone{Reason: events.Switched, Successor: to("x")}, []string{"which never was"}},
		"switched by another":  {left, events.PeerGone{Reason: events.Switched, Successor: events.Ref{Session: p.Session}}, []string{"which never was"}},
		"left, and not exited": {left, events.PeerGone{Reason: events.Exited}, []string{"the truth is left"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, out := told()
			tc.gone.Peer = p
			if tc.gone.Meta.Time == 0 {
				tc.gone.Meta.Time = events.At(at)
			}
			(&checker{report: r, world: w}).gone(7, tc.gone, tc.life)
			expect(t, r, out, tc.want...)
		})
	}
}

func TestUnlike(t *testing.T) {
	a, b := events.Peer{Session: "a", PID: 5, Start: "1", Name: "n"}, events.Peer{Session: "b", PID: 6, Start: "1"}
	renamed := a
	renamed.Name = "m"
	by := func(peers ...events.Peer) map[events.ID]events.Peer {
		out := make(map[events.ID]events.Peer)
		for _, p := range peers {
			out[p.ID("")] = p
		}
		return out
	}
	for name, tc := range map[string]struct {
		said, truth map[events.ID]events.Peer
		want        []string
	}{
		"the same":  {by(a, b), by(b, a), nil},
		"missing":   {by(a), by(a, b), []string{"the log does not have " + show(b)}},
		"left over": {by(a, b), by(a), []string{"the log has " + show(b) + ", which is not there"}},
		"another":   {by(renamed), by(a), []string{`the log has a 5-1 with Name "m" instead of "n"`}},
	} {
		if d := cmp.Diff(tc.want, unlike(tc.said, tc.truth)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestFoldKeepsTheLatest(t *testing.T) {
	p := events.Peer{Session: "a", PID: 5, Start: "1", Name: "old"}
	now := p
	now.Name = "new"
	f := newFold()
	f.peer(7, now)
	f.event(events.Last{Seq: 6, Event: events.PeerChanged{Peer: p}})
	if wrong := f.against(map[events.ID]events.Peer{p.ID(""): now}); len(wrong) > 0 {
		t.Errorf("an event that the peers told first reflect was applied: %v", wrong)
	}
	f.event(events.Last{Seq: 8, Event: events.PeerGone{Peer: now}})
	if wrong := f.against(nil); len(wrong) > 0 || f.count() != 2 {
		t.Errorf("after the going, %d events: %v", f.count(), wrong)
	}
}

func TestAuditLogFindsHolesAndWrongTransitions(t *testing.T) {
	p := events.Peer{Harness: events.Claude, Session: "a", PID: 5, Start: "1"}
	log := []events.Last{
		{Seq: 1, Event: events.WatchResumed{Meta: events.Meta{ID: "1"}, Why: events.Start}},
		{Seq: 3, Event: events.PeerAppeared{Meta: events.Meta{ID: "2"}, Peer: p}},
		{Seq: 4, Event: events.PeerAppeared{Meta: events.Meta{ID: "3"}, Peer: p}},
	}
	r, out := told()
	auditLog(r, log)
	expect(t, r, out, "nothing between 1 and 3", string(audit.AppearedTwice))
	r, out = told()
	auditLog(r, log[1:], audit.AppearedTwice)
	expect(t, r, out)
}
