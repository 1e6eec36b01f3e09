package follow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/internal/state"
)

func (r *rig) view(t testing.TB) events.View {
	t.Helper()
	s, err := r.log.State()
	if err != nil {
		t.Fatal(err)
	}
	return s.View
}

func TestFollowTellsWhatIsThereThenEveryChange(t *testing.T) {
	r := start(t)
	r.publish(t, all(0, 230, appeared)...)
	r.publish(t, all(0, 30, gone)...)
	for _, role := range []string{state.Observer, state.Mailer, state.Operator, state.SenderRole(state.LocalSender)} {
		fl := r.follow(t, r.connect(t, role), follow.Filter{})
		view, seq := fl.ready()
		if d := cmp.Diff(r.view(t), view); d != "" {
			t.Errorf("%s: what is there (-want +got):\n%s", role, d)
		}
		stored := r.publish(t, status(100, events.Busy))
		if stored[0].Seq != seq+1 {
			t.Errorf("%s: ready at %d, the next is %d", role, seq, stored[0].Seq)
		}
		stored = append(stored, r.publish(t, all(1000, 1020, appeared)...)...)
		stored = append(stored, r.publish(t, append(all(1000, 1020, gone), events.WatchResumed{Meta: at(0), Why: events.Sleep})...)...)
		fl.events(stored)
		fl.cancel(errEnough)
	}
}

// The watcher's own connection, within its process, follows too.
func TestFollowInTheWatchersProcess(t *testing.T) {
	r := start(t)
	nc, err := r.srv.Connect(embedded.Watcher)
	if err != nil {
		t.Fatal(err)
	}
	fl := r.follow(t, nc, follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, appeared(1), appeared(2)))
	fl.cancel(errEnough)
}

func TestFilter(t *testing.T) {
	r := start(t)
	codex := peer(5)
	codex.Harness = events.Codex
	other := events.PeerAppeared{Meta: at(5), Peer: codex}
	r.publish(t, appeared(1), appeared(2), other)
	resumed := events.WatchResumed{Meta: at(0), Why: events.Start}
	for name, tc := range map[string]struct {
		f     follow.Filter
		there int
		want  []int // which of those that are published then
	}{
		"none":              {follow.Filter{}, 3, []int{0, 1, 2, 3}},
		"host":              {follow.Filter{Host: host}, 3, []int{0, 1, 2, 3}},
		"harness":           {follow.Filter{Harness: events.Codex}, 1, []int{2, 3}},
		"session":           {follow.Filter{Session: peer(2).Session}, 1, []int{1, 3}},
		"both":              {follow.Filter{Harness: events.Codex, Session: peer(2).Session}, 0, []int{3}},
		"a session of none": {follow.Filter{Session: "none"}, 0, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			fl := r.follow(t, r.connect(t, state.Observer), tc.f)
			if view, _ := fl.ready(); len(view) != tc.there {
				t.Errorf("%d are there, want %d", len(view), tc.there)
			}
			stored := r.publish(t, status(1, events.Busy), status(2, events.Busy), other, resumed)
			var want []events.Last
			for _, n := range tc.want {
				want = append(want, stored[n])
			}
			fl.events(want)
		})
	}
}

func TestUnknownEventsArePassedOver(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	for _, data := range []string{`{"type":"PeerPraised","host":"laptop.local","epoch":"x"}`, "no JSON", ""} {
		if _, err := r.js.Publish(t.Context(), "ingest.peers.v1."+token+".claude.s.1-1.praised", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.log.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	fl.events(r.publish(t, appeared(1)))
}

func TestFollowEnds(t *testing.T) {
	r := start(t)
	r.publish(t, appeared(1))
	nc := r.connect(t, state.Observer)
	tired := errors.New("tired")
	for name, when := range map[string]func(follow.Change) bool{
		"in the snapshot": func(c follow.Change) bool { return c.Snapshot },
		"when ready":      func(c follow.Change) bool { return c.Ready },
		"at an event":     func(c follow.Change) bool { return c.Event != nil && !c.Snapshot },
	} {
		err := follow.Follow(t.Context(), nc, follow.Filter{}, func(c follow.Change) error {
			if when(c) {
				return tired
			}
			if c.Ready {
				r.publish(t, status(1, events.Busy))
			}
			return nil
		})
		if err != tired {
			t.Errorf("each ends it %s: %v", name, err)
		}
	}
	fl := r.follow(t, nc, follow.Filter{})
	fl.ready()
	fl.cancel(errEnough)
	if err := <-fl.done; err != errEnough {
		t.Errorf("ctx ends it: %v", err)
	}
	fl.done <- nil
	fl = r.follow(t, nc, follow.Filter{})
	fl.ready()
	nc.Close()
	if err := <-fl.done; !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("a closed connection ends it: %v", err)
	}
	fl.done <- nil
	if err := follow.Follow(t.Context(), nc, follow.Filter{}, func(follow.Change) error { return nil }); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("on a closed connection: %v", err)
	}
}

// Nobody there is waited for, and ctx ends the waiting.
func TestFollowWaitsForTheWatcher(t *testing.T) {
	r := start(t)
	r.stop()
	nc := r.connect(t, state.Observer)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if err := follow.Follow(ctx, nc, follow.Filter{}, nil); err != errEnough {
		t.Errorf("ctx ends it: %v", err)
	}
	asked := make(chan *nats.Msg, 10)
	sub, err := r.connect(t, state.Operator).Subscribe("watcher.v1."+token+".snapshot", func(m *nats.Msg) {
		answer := nats.NewMsg(m.Reply)
		answer.Header.Set(micro.ErrorCodeHeader, "503")
		answer.Header.Set(micro.ErrorHeader, "not yet")
		if err := m.RespondMsg(answer); err != nil {
			t.Error(err)
		}
		asked <- m
	})
	if err != nil {
		t.Fatal(err)
	}
	fl := r.follow(t, nc, follow.Filter{})
	stored := r.publish(t, appeared(1))
	<-asked
	<-asked
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	r.serve(t)
	if view, seq := fl.ready(); len(view) != 1 || seq != stored[0].Seq {
		t.Errorf("%d are there at %d", len(view), seq)
	}
}
