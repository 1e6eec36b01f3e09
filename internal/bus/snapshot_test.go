package bus_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// paged asks for the pages of a snapshot from page n on.
func paged(t *testing.T, nc *nats.Conn, q bus.SnapshotRequest) (events.View, []bus.SnapshotPage) {
	t.Helper()
	view := make(events.View)
	var pages []bus.SnapshotPage
	for more := true; more; q.Page++ {
		page, err := bus.AskSnapshot(t.Context(), nc, token, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Peers {
			e, err := events.Decode(p.Event)
			if err != nil {
				t.Fatal(err)
			}
			view.Apply(p.Seq, e)
		}
		pages, more, q.Seq = append(pages, page), page.More, page.Seq
	}
	return view, pages
}

func TestSnapshotIsFrozen(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	publish(t, r.log, appearedAll(0, 250)...)
	publish(t, r.log, gone(7))
	want := stateOf(t, r.log)
	for _, role := range []string{state.Observer, state.Mailer, state.SenderRole(state.LocalSender)} {
		nc := r.connect(t, role)
		first, err := bus.AskSnapshot(t.Context(), nc, token, bus.SnapshotRequest{})
		if err != nil {
			t.Fatal(err)
		}
		// What happens between the pages is not in them.
		publish(t, r.log, gone(200), appeared(900), events.StatusChanged{Meta: at(1), Peer: peer(249)})
		got, pages := paged(t, nc, bus.SnapshotRequest{Seq: first.Seq})
		if d := cmp.Diff(want.View, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", role, d)
		}
		for i, p := range pages {
			if p.Host != host || p.Epoch != r.epoch || p.Seq != want.Seq || p.Page != i || p.More != (i < 2) || len(p.Peers) > 100 {
				t.Errorf("page %d: %+v", i, p)
			}
		}
		want = stateOf(t, r.log)
	}
}

func TestSnapshotOfNobody(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	nc := r.connect(t, state.Observer)
	page, err := bus.AskSnapshot(t.Context(), nc, token, bus.SnapshotRequest{})
	want := bus.SnapshotPage{Host: host, Epoch: r.epoch, Peers: []bus.SnapshotPeer{}}
	if d := cmp.Diff(want, page); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// Pages of events as large as they come fit into messages.
func TestSnapshotOfLargeEvents(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	var evs []events.Event
	for n := range 60 {
		p := peer(n)
		p.Cwd = string(make([]byte, 10_000)) // "\u0000" each
		evs = append(evs, events.PeerAppeared{Meta: at(n), Peer: p})
	}
	publish(t, r.log, evs...)
	got, pages := paged(t, r.connect(t, state.Observer), bus.SnapshotRequest{})
	if d := cmp.Diff(stateOf(t, r.log).View, got); d != "" || len(pages) < 4 {
		t.Errorf("%d pages (-want +got):\n%s", len(pages), d)
	}
}

func code(err error) int {
	e, ok := errors.AsType[*bus.ServiceError](err)
	if !ok {
		return 0
	}
	return e.Code
}

func TestSnapshotRefusals(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	nc := r.connect(t, state.Observer)
	publish(t, r.log, appeared(0))
	ask := func(q bus.SnapshotRequest) error {
		_, err := bus.AskSnapshot(t.Context(), nc, token, q)
		return err
	}
	if err := ask(bus.SnapshotRequest{}); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 31; n++ { // 32 are kept
		publish(t, r.log, appeared(n))
		if err := ask(bus.SnapshotRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(bus.SnapshotRequest{Seq: 1}); err != nil {
		t.Errorf("the 32nd from the end: %v", err)
	}
	publish(t, r.log, appeared(32))
	if err := ask(bus.SnapshotRequest{}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		q    bus.SnapshotRequest
		want int
	}{
		"pushed out":           {bus.SnapshotRequest{Seq: 1}, 410},
		"never made":           {bus.SnapshotRequest{Seq: 4711, Page: 1}, 410},
		"page behind the last": {bus.SnapshotRequest{Seq: 33, Page: 1}, 400},
		"page before 0":        {bus.SnapshotRequest{Seq: 33, Page: -1}, 400},
		"page without seq":     {bus.SnapshotRequest{Page: 1}, 400},
	} {
		if got := code(ask(tc.q)); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
