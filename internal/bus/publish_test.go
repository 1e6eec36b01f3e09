package bus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/reconcile"
)

func TestPublishStampsAndNumbers(t *testing.T) {
	r := start(t)
	for _, n := range []int{1, 2, 1000, 1500} {
		before := stateOf(t, r.log).Seq
		stored := publish(t, r.log, appearedAll(0, n)...)
		if len(stored) != n {
			t.Fatalf("%d of %d stored", len(stored), n)
		}
		ids := make(map[string]bool)
		for i, last := range stored {
			m := last.Event.Head()
			id, err := uuid.Parse(m.ID)
			if err != nil || id.Version() != 7 || ids[m.ID] {
				t.Errorf("event %d has id %q: version %d, %v, there before: %t", i, m.ID, id.Version(), err, ids[m.ID])
			}
			ids[m.ID] = true
			if m.Host != host || m.Epoch != r.epoch || m.Time != at(i).Time || last.Seq != before+1+uint64(i) {
				t.Errorf("event %d behind %d is %d: %+v", i, before, last.Seq, m)
			}
		}
		var got []events.Last
		for e, err := range bus.StoredEvents(t.Context(), r.nc, bus.From{Seq: before + 1}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, events.Last{Seq: e.Seq, Event: e.Event})
		}
		if d := cmp.Diff(stored, got); d != "" {
			t.Errorf("%d events: the log (-returned +stored):\n%s", n, d)
		}
	}
}

func TestPublishKeepsAnID(t *testing.T) {
	r := start(t)
	e := events.PeerAppeared{Meta: events.Meta{ID: "mine", Host: "other", Epoch: "other"}, Peer: peer(1)}
	if m := publish(t, r.log, e)[0].Event.Head(); m.ID != "mine" || m.Host != host || m.Epoch != r.epoch {
		t.Errorf("stamped %+v", m)
	}
}

func TestConflict(t *testing.T) {
	r := start(t)
	rival := r.newLog()
	fold(t, rival)
	ours := publish(t, r.log, appeared(1))
	for name, evs := range map[string][]events.Event{
		"one": {appeared(2)}, "a batch": appearedAll(2, 22), "the same again, as after a lost acknowledgement": {ours[0].Event},
	} {
		stored, err := rival.Publish(t.Context(), evs)
		if !errors.Is(err, reconcile.ErrConflict) || len(stored) != 0 {
			t.Errorf("%s: %d stored, %v", name, len(stored), err)
		}
	}
	if d := cmp.Diff(stateOf(t, r.log).View, fold(t, rival)); d != "" {
		t.Errorf("the rival folds (-want +got):\n%s", d)
	}
	if got := seqs(publish(t, rival, appeared(3))); got[0] != 2 {
		t.Errorf("after the fold it stores %v, want 2", got)
	}
	if got := rival.Counts(); got.Conflicts != 3 || got.Published != 1 {
		t.Errorf("counts %+v", got)
	}
}

// An event that the server does not take for its content holds up no other.
func TestContentRefusal(t *testing.T) {
	big := peer(7)
	big.Cwd = strings.Repeat("x", 70_000)
	huge := peer(8)
	huge.Cwd = strings.Repeat("x", 2<<20)
	tooBig := events.PeerAppeared{Meta: at(7), Peer: big}
	overPayload := events.PeerAppeared{Meta: at(8), Peer: huge}
	noYear := events.PeerAppeared{Meta: events.Meta{Time: 1 << 60}, Peer: peer(9)}
	for name, evs := range map[string][]events.Event{
		"alone":       {tooBig},
		"first":       append([]events.Event{tooBig}, appearedAll(10, 20)...),
		"last":        append(appearedAll(10, 20), tooBig),
		"two":         {appeared(10), tooBig, appeared(11), overPayload, appeared(12)},
		"only such":   {tooBig, tooBig, overPayload},
		"no encoding": {noYear, appeared(10)},
		"of 1,000":    append(append(appearedAll(100, 600), tooBig), appearedAll(600, 1099)...),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			var want []string
			for _, e := range evs {
				if p, _ := events.PeerOf(e); len(p.Cwd) < 70_000 && e.Head().Time < 1<<60 {
					want = append(want, p.Session)
				}
			}
			var got []string
			for i, last := range publish(t, r.log, evs...) {
				got = append(got, last.Peer().Session)
				if last.Seq != uint64(i+1) {
					t.Errorf("stored as %d, want %d", last.Seq, i+1)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("stored (-want +got):\n%s", d)
			}
			if c := r.log.Counts(); c.Refused != uint64(len(evs)-len(want)) {
				t.Errorf("%d counted as refused, want %d", c.Refused, len(evs)-len(want))
			}
			if d := cmp.Diff(stateOf(t, r.log).View, fold(t, r.newLog())); d != "" {
				t.Errorf("fold (-applied +folded):\n%s", d)
			}
			publish(t, r.log, appeared(2000)) // the fence still fits
		})
	}
}

// A plain subscriber hears a batch whole and in order, and nothing of what the fence turns away.
func TestBatchIsHeardInOrder(t *testing.T) {
	r := start(t)
	observer := r.connect(t, "observer")
	heard := make(chan *nats.Msg, 3000)
	if _, err := observer.ChanSubscribe("peers.v1.>", heard); err != nil {
		t.Fatal(err)
	}
	if err := observer.Flush(); err != nil {
		t.Fatal(err)
	}
	rival := r.newLog()
	fold(t, rival)
	stored := publish(t, r.log, appearedAll(0, 1500)...)
	if _, err := rival.Publish(t.Context(), appearedAll(5000, 5020)); !errors.Is(err, reconcile.ErrConflict) {
		t.Fatal(err)
	}
	stored = append(stored, publish(t, r.log, gone(3))...)
	for i, want := range stored {
		m := <-heard
		s, ok := bus.Heard(m, bus.Peers)
		e, err := events.Decode(m.Data)
		if !ok || err != nil || s.Seq != want.Seq || e.Head().ID != want.Event.Head().ID {
			t.Fatalf("heard %d as the %d-th: %t, %v", s.Seq, i, ok, err)
		}
	}
	if len(heard) != 0 {
		t.Errorf("%d more were heard", len(heard))
	}
}
