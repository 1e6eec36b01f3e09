package bus_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host has a name that is not its token.
const host = "laptop.local"

var quiet = slog.New(slog.DiscardHandler)

// rig is a server as the watcher runs it, with the streams and an open log.
type rig struct {
	dir   *state.Dir
	srv   *embedded.Server
	nc    *nats.Conn // the watcher's
	js    jetstream.JetStream
	epoch string
	log   *bus.Log
}

func start(t testing.TB) *rig {
	t.Helper()
	dir, err := state.Claim(filepath.Join(t.TempDir(), "state"), state.Claiming{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dir.Close)
	r := &rig{dir: dir}
	r.run(t, "")
	t.Cleanup(func() { r.srv.Shutdown() })
	return r
}

// run starts the server, again too.
func (r *rig) run(t testing.TB, listen string) {
	t.Helper()
	var err error
	if r.srv, err = embedded.Start(t.Context(), embedded.Options{State: r.dir, Listen: listen, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	r.nc = r.connect(t, embedded.Watcher)
	if r.js, err = jetstream.New(r.nc); err != nil {
		t.Fatal(err)
	}
	if r.epoch, err = bus.EnsureStreams(t.Context(), r.js, host); err != nil {
		t.Fatal(err)
	}
	r.log = r.newLog()
	fold(t, r.log)
}

func (r *rig) newLog() *bus.Log { return bus.NewLog(r.js, host, r.epoch, quiet) }

func (r *rig) connect(t testing.TB, role string) *nats.Conn {
	t.Helper()
	nc, err := r.srv.Connect(role, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// serve runs the service with what s has until the test ends.
func (r *rig) serve(t testing.TB, s bus.Service) {
	t.Helper()
	s.Log, s.Version, s.Logger = r.log, "1.2.3", quiet
	if s.Why == nil {
		s.Why = func(context.Context, string) (bus.WhyReply, error) { return bus.WhyReply{}, nil }
	}
	if s.Status == nil {
		s.Status = func(context.Context) bus.StatusReply { return bus.StatusReply{} }
	}
	nc := r.connect(t, embedded.Responder)
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), nc) }()
	t.Cleanup(func() { // by now the test's context has ended
		if err := <-done; err != context.Canceled {
			t.Errorf("serve ended with %v", err)
		}
	})
	observer := r.connect(t, state.Observer)
	within(t, func() bool {
		_, err := bus.AskStatus(t.Context(), observer, events.Token(host))
		return err == nil
	})
}

// within polls until ok, for 10 s at the most.
func within(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(10 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("still not so after 10 s")
		}
	}
}

func fold(t testing.TB, l *bus.Log) events.View {
	t.Helper()
	view, _, err := l.Fold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func publish(t testing.TB, l *bus.Log, evs ...events.Event) []events.Last {
	t.Helper()
	stored, err := l.Publish(t.Context(), evs)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// peer is the n-th of many, all different.
func peer(n int) events.Peer {
	return events.Peer{
		Harness: events.Claude, Session: fmt.Sprintf("%08x-5cd0-4744-a158-5d764d50082a", n), PID: 1000 + n, Start: "31702",
		Name: fmt.Sprintf("proj-%d", n), Cwd: "/home/u/proj", Status: events.Idle,
	}
}

func at(n int) events.Meta { return events.Meta{Time: events.Time(1_700_000_000_000 + int64(n))} }

func appeared(n int) events.Event { return events.PeerAppeared{Meta: at(n), Peer: peer(n)} }

func gone(n int) events.Event {
	return events.PeerGone{Meta: at(n), Peer: peer(n), Reason: events.Exited}
}

func appearedAll(from, to int) []events.Event {
	var evs []events.Event
	for n := from; n < to; n++ {
		evs = append(evs, appeared(n))
	}
	return evs
}

// seqs are the sequences of what was stored.
func seqs(stored []events.Last) []uint64 {
	var out []uint64
	for _, l := range stored {
		out = append(out, l.Seq)
	}
	return out
}
