package follow_test

import (
	"context"
	"errors"
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
	"peerbus/events/follow"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	host  = "laptop.local" // its token is another
	token = "laptop=2Elocal"
)

var quiet = slog.New(slog.DiscardHandler)

// rig is a server with what a watcher has on it.
type rig struct {
	dir   *state.Dir
	srv   *embedded.Server
	js    jetstream.JetStream
	epoch string
	log   *bus.Log
	stop  func() // the service
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
	t.Cleanup(func() { r.end() })
	return r
}

// run starts the server and the service, again too.
func (r *rig) run(t testing.TB, listen string) {
	t.Helper()
	var err error
	if r.srv, err = embedded.Start(t.Context(), embedded.Options{State: r.dir, Listen: listen, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	nc, err := r.srv.Connect(embedded.Watcher)
	if err != nil {
		t.Fatal(err)
	}
	if r.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	r.open(t)
}

// open makes the streams, folds the log and serves.
func (r *rig) open(t testing.TB) {
	t.Helper()
	var err error
	if r.epoch, err = bus.EnsureStreams(t.Context(), r.js, r.dir.Host()); err != nil {
		t.Fatal(err)
	}
	r.log = bus.NewLog(r.js, r.dir.Host(), r.epoch, quiet)
	if _, _, err := r.log.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.serve(t)
}

func (r *rig) serve(t testing.TB) {
	t.Helper()
	nc, err := r.srv.Connect(embedded.Responder)
	if err != nil {
		t.Fatal(err)
	}
	s := bus.Service{
		Log: r.log, Version: "1.0.0", Logger: quiet, Why: r.log.Why(nil),
		Status: func(context.Context) bus.StatusReply { return bus.StatusReply{} },
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, nc) }()
	r.stop = func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("serve ended with %v", err)
		}
		nc.Close()
		r.stop = func() {}
	}
}

// end stops the service and the server.
func (r *rig) end() {
	r.stop()
	r.srv.Shutdown()
}

func (r *rig) connect(t testing.TB, role string) *nats.Conn {
	t.Helper()
	nc, err := bus.Target{State: r.dir.Path(), Role: role, Log: quiet}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func (r *rig) publish(t testing.TB, evs ...events.Event) []events.Last {
	t.Helper()
	stored, err := r.log.Publish(t.Context(), evs)
	if err != nil || len(stored) != len(evs) {
		t.Fatalf("%d of %d stored: %v", len(stored), len(evs), err)
	}
	return stored
}

// limit makes the log forget all but the last n messages.
func (r *rig) limit(t testing.TB, change func(*jetstream.StreamConfig)) {
	t.Helper()
	s, err := r.js.Stream(t.Context(), bus.Peers)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	change(&cfg)
	if _, err := r.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// following is a Follow on its way.
type following struct {
	t       testing.TB
	changes chan follow.Change
	cancel  context.CancelCauseFunc
	done    chan error
}

var errEnough = errors.New("enough")

// follow starts a Follow whose changes are taken one by one.
func (r *rig) follow(t testing.TB, nc *nats.Conn, f follow.Filter) *following {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	fl := &following{t: t, changes: make(chan follow.Change), cancel: cancel, done: make(chan error, 1)}
	go func() {
		fl.done <- follow.Follow(ctx, nc, f, func(c follow.Change) error {
			select {
			case fl.changes <- c:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	t.Cleanup(func() {
		cancel(errEnough)
		<-fl.done
		close(fl.done)
	})
	return fl
}

// patience is how long a test waits for what must come. The machine may be busy with others.
const patience = 20 * time.Second

// next is the next change.
func (fl *following) next() follow.Change {
	fl.t.Helper()
	select {
	case c := <-fl.changes:
		return c
	case err := <-fl.done:
		fl.t.Fatalf("follow ended with %v", err)
	case <-time.After(patience):
		fl.t.Fatal("nothing is told")
	}
	return follow.Change{}
}

// ready takes the snapshot.
func (fl *following) ready() (events.View, uint64) {
	fl.t.Helper()
	view := make(events.View)
	for {
		c := fl.next()
		switch {
		case c.Ready:
			return view, c.Seq
		case !c.Snapshot:
			fl.t.Fatalf("told in the snapshot: %+v", c)
		}
		view.Apply(c.Seq, c.Event)
	}
}

// events takes what was stored, in its order.
func (fl *following) events(stored []events.Last) {
	fl.t.Helper()
	for _, want := range stored {
		c := fl.next()
		if c.Event == nil || c.Snapshot || c.Seq != want.Seq || c.Event.Head().ID != want.Event.Head().ID {
			fl.t.Fatalf("told %+v, want event %d", c, want.Seq)
		}
	}
}

// lost takes a loss.
func (fl *following) lost() follow.Gap {
	fl.t.Helper()
	c := fl.next()
	if c.Lost == nil {
		fl.t.Fatalf("told %+v, want a loss", c)
	}
	return *c.Lost
}

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

func status(n int, s events.Status) events.Event {
	p := peer(n)
	p.Status = s
	return events.StatusChanged{Meta: at(n), Peer: p}
}

func all(from, to int, event func(int) events.Event) []events.Event {
	var evs []events.Event
	for n := from; n < to; n++ {
		evs = append(evs, event(n))
	}
	return evs
}
