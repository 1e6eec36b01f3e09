package bus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
	"peerbus/reconcile"
)

func TestWhy(t *testing.T) {
	r := start(t)
	evidence := []reconcile.Evidence{{Source: "process", About: "1001", Says: "alive", Time: 5, OK: true}}
	r.serve(t, bus.Service{Why: func(ctx context.Context, ref string) (bus.WhyReply, error) {
		return r.log.Why(func(_ context.Context, p events.Peer) reconcile.Explanation {
			return reconcile.Explanation{Verdict: fmt.Sprintf("asked for %d", p.PID), Evidence: evidence}
		})(ctx, ref)
	}})
	changed := peer(1)
	changed.Status = events.Busy
	publish(t, r.log, appeared(1), appeared(2), events.StatusChanged{Meta: at(3), Peer: peer(1)})
	last := publish(t, r.log, events.StatusChanged{Meta: at(4), Peer: changed})
	nc := r.connect(t, state.Observer)
	got, err := bus.AskWhy(t.Context(), nc, token, bus.WhyRequest{Peer: "proj-1"})
	if err != nil {
		t.Fatal(err)
	}
	var first events.Event
	for e := range bus.StoredEvents(t.Context(), r.nc, bus.From{}) {
		first = e.Event
		break
	}
	want := bus.WhyReply{
		Peer: changed, Verdict: "asked for 1001", Evidence: evidence,
		Events: []bus.SnapshotPeer{{Seq: 1, Event: raw(t, first)}, {Seq: 4, Event: raw(t, last[0].Event)}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("why (-want +got):\n%s", d)
	}
	twin := peer(2)
	twin.PID = 77
	publish(t, r.log, events.PeerAppeared{Meta: at(5), Peer: twin}, gone(1))
	for ref, want := range map[string]int{"proj-1": 404, "nobody": 404, "": 404, "proj-2": 400} {
		if _, err := bus.AskWhy(t.Context(), nc, token, bus.WhyRequest{Peer: ref}); code(err) != want {
			t.Errorf("why %q: %v, want %d", ref, err, want)
		}
	}
}

// raw is an event as it stands in a reply.
func raw(t *testing.T, e events.Event) json.RawMessage {
	t.Helper()
	data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
