package main

import (
	"fmt"
	"testing"
	"time"

	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/test/soak/world"
)

func TestMissedIsHeldAgainstTheTruth(t *testing.T) {
	at := func(s int) time.Time { return time.UnixMilli(1796065268000).Add(time.Duration(s) * time.Second) }
	p := events.Peer{Session: "a", PID: 5, Start: "1"}
	died := func(from, to int) world.Life {
		return world.Life{End: &world.Span{From: at(from), To: at(to)}, Reason: events.Died}
	}
	left := world.Life{Left: &world.Span{From: at(11), To: at(12)}}
	// A watcher died at 10, the next one looked at 20.
	deaths := []time.Time{at(3), at(10), at(30)}
	resumed := events.Last{Seq: 1, Event: events.WatchResumed{BlindFrom: events.At(at(9)), BlindTo: events.At(at(20))}}
	for name, tc := range map[string]struct {
		life   world.Life
		missed bool
		before int
		want   []string
	}{
		"missed":                    {died(11, 12), true, 9, nil},
		"seen":                      {died(25, 26), false, 0, nil},
		"seen by the one before":    {died(5, 6), false, 0, nil},
		"not said to be missed":     {died(11, 12), false, 0, []string{"without missed"}},
		"may have been seen ending": {died(9, 12), false, 0, nil},
		"left, seen a look later":   {left, false, 0, nil},
		"gone before not_before":    {died(11, 12), true, 13, []string{"not before"}},
		"missed and never gone":     {world.Life{}, true, 9, []string{"not before"}},
	} {
		t.Run(name, func(t *testing.T) {
			gone := events.PeerGone{Peer: p, Missed: tc.missed}
			if tc.missed {
				gone.NotBefore = events.At(at(tc.before))
			}
			log := []events.Last{resumed, {Seq: 2, Event: gone}}
			r, out := told()
			missed := checkMissed(r, log, map[events.ID]world.Life{p.ID(""): tc.life}, outages(log, deaths))
			if (missed == 1) != tc.missed {
				t.Errorf("%d missed", missed)
			}
			expect(t, r, out, tc.want...)
		})
	}
}

func numbered(seqs ...uint64) []events.Last {
	var log []events.Last
	for _, s := range seqs {
		log = append(log, events.Last{Seq: s, Event: events.WatchResumed{Meta: events.Meta{ID: fmt.Sprint(s)}}})
	}
	return log
}

func TestSubscriberFindsGapsAndDuplicates(t *testing.T) {
	log := numbered(5, 6, 7, 8)
	other := numbered(5, 6)
	other[1].Event = events.WatchResumed{Meta: events.Meta{ID: "x"}}
	for name, tc := range map[string]struct {
		tail []events.Last
		want []string
	}{
		"all":       {numbered(5, 6, 7, 8), nil},
		"some":      {numbered(5, 6), nil},
		"none":      {nil, nil},
		"a gap":     {numbered(5, 7), []string{"told 7 as seq 7 where the log goes on with 6"}},
		"the first": {numbered(6), []string{"told 6 as seq 6 where the log goes on with 5"}},
		"twice":     {numbered(5, 5), []string{"told 5 as seq 5 where the log goes on with 6"}},
		"another":   {other, []string{"told x as seq 6"}},
		"too many":  {numbered(5, 6, 7, 8, 9), []string{"seq 9, which the log does not have"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, out := told()
			(&subscriber{role: "observer", tail: tc.tail}).compare(r, log)
			expect(t, r, out, tc.want...)
		})
	}
}

func TestSubscriberNotesWhatShouldNotHappen(t *testing.T) {
	p := follow.Change{Seq: 3, Snapshot: true, Event: events.PeerAppeared{Peer: events.Peer{Session: "a", PID: 5}}}
	ready := follow.Change{Seq: 4, Ready: true}
	for name, tc := range map[string]struct {
		told []follow.Change
		want int
	}{
		"as it should be":        {[]follow.Change{p, ready, {Seq: 5, Event: events.WatchResumed{}}}, 0},
		"a peer twice":           {[]follow.Change{p, p, ready}, 1},
		"a peer after the ready": {[]follow.Change{ready, p}, 1},
		"ready twice":            {[]follow.Change{p, ready, ready}, 1},
		"a loss":                 {[]follow.Change{p, ready, {Lost: &follow.Gap{}}}, 1},
	} {
		s := &subscriber{view: make(map[events.ID]events.Peer)}
		for _, c := range tc.told {
			s.take(c)
		}
		if len(s.wrong) != tc.want {
			t.Errorf("%s: %v", name, s.wrong)
		}
	}
}

func TestKeptFindsWhatTheLogLost(t *testing.T) {
	h := newHeard(func(events.Last, time.Time) {})
	for _, l := range numbered(5, 6, 7) {
		h.event(l, time.Time{})
	}
	log := numbered(5, 6)
	log[1].Event = events.WatchResumed{Meta: events.Meta{ID: "x"}}
	r, out := told()
	h.kept(r, "run", log)
	expect(t, r, out, "told 6 as seq 6", "told 7 as seq 7")
}

func TestComplaintsWantOneClearLine(t *testing.T) {
	clear := `level=ERROR msg="the bus cannot store" err="the disk is full: x"`
	for name, tc := range map[string]struct {
		said []string
		bad  int
	}{
		"one":              {[]string{clear}, 0},
		"none":             {nil, 1},
		"two":              {[]string{clear, clear}, 1},
		"unclear":          {[]string{`level=ERROR msg="no answer"`}, 1},
		"among many":       {[]string{`level=WARN msg="x"`, clear}, 1},
		"a warning of one": {[]string{`level=WARN err="the disk is full"`}, 1},
	} {
		r, out := told()
		(&stage{report: r}).complaints(tc.said)
		if r.failures != tc.bad {
			t.Errorf("%s: %d failures: %s", name, r.failures, out)
		}
	}
}
