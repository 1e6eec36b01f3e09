package follow_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// more is more than a Follow keeps for a busy each.
const more = 1500

// slowly starts a Follow that is at an event while others are published, more than it keeps.
func (r *rig) slowly(t *testing.T) (*following, []events.Last) {
	t.Helper()
	nc := r.connect(t, state.Observer)
	fl := r.follow(t, nc, follow.Filter{})
	fl.ready()
	witness := make(chan *nats.Msg, 4*more)
	if _, err := nc.ChanSubscribe("peers.v1.>", witness); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	stored := r.publish(t, all(0, more, appeared)...) // the first is at each, which waits for us
	for range stored {
		<-witness
	}
	return fl, stored
}

func TestEventsThatEachWasTooSlowForAreTold(t *testing.T) {
	r := start(t)
	fl, stored := r.slowly(t)
	fl.events(stored[:10])
	stored = append(stored, r.publish(t, all(0, 40, gone)...)...)
	fl.events(stored[10:])
}

// A loss that nothing follows is found all the same.
func TestALostLastEventIsTold(t *testing.T) {
	r := start(t)
	fl, stored := r.slowly(t)
	fl.events(stored[:len(stored)-1])
	began := time.Now()
	fl.events(stored[len(stored)-1:])
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("told after %s", took)
	}
}

func TestALossThatCannotBeFilledIsTold(t *testing.T) {
	r := start(t)
	fl, stored := r.slowly(t)
	r.limit(t, func(c *jetstream.StreamConfig) { c.MaxMsgs = 50 })
	var last uint64
	var gap follow.Gap
	for gap.Why == "" {
		c := fl.next()
		if c.Lost != nil {
			gap = *c.Lost
		} else if last++; c.Seq != last {
			t.Fatalf("told %d, want %d", c.Seq, last)
		}
	}
	if want := (follow.Gap{From: last + 1, To: uint64(len(stored) - 50), Why: gap.Why}); gap != want {
		t.Errorf("lost %+v, want %+v", gap, want)
	}
	view, seq := fl.ready()
	if d := cmp.Diff(r.view(t), view); d != "" || seq != more {
		t.Errorf("what is there at %d (-want +got):\n%s", seq, d)
	}
	fl.events(r.publish(t, gone(1)))
}

// That all events have grown too old is no loss to whoever heard them.
func TestAnEmptiedLogIsNoLoss(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, appeared(1), appeared(2)))
	r.limit(t, func(c *jetstream.StreamConfig) { c.MaxAge = 100 * time.Millisecond })
	asked := make(chan *nats.Msg, 10)
	operator := r.connect(t, state.Operator)
	if _, err := operator.ChanSubscribe("watcher.v1."+token+".snapshot", asked); err != nil {
		t.Fatal(err)
	}
	if err := operator.Flush(); err != nil {
		t.Fatal(err)
	}
	<-asked // it found the log empty, and asks whether it missed something
	r.limit(t, func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour })
	if _, _, err := r.log.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	fl.events(r.publish(t, gone(1)))
}

func TestAnotherLogIsAnotherHistory(t *testing.T) {
	r := start(t)
	r.publish(t, all(0, 20, appeared)...)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, gone(3)))
	r.stop()
	if err := r.js.DeleteStream(t.Context(), bus.Peers); err != nil {
		t.Fatal(err)
	}
	r.open(t)
	stored := r.publish(t, appeared(500))
	if gap := fl.lost(); gap.From != 0 || gap.To != 0 || gap.Why == "" {
		t.Errorf("lost %+v", gap)
	}
	if view, seq := fl.ready(); len(view) != 1 || seq != stored[0].Seq {
		t.Errorf("%d are there at %d", len(view), seq)
	}
	fl.events(r.publish(t, gone(500)))
}

// An event of another epoch does not lead on, wherever its sequence is.
func TestAnEventOfAnotherEpoch(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, appeared(1)))
	other := bus.NewLog(r.js, host, "another", quiet)
	if _, _, err := other.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Publish(t.Context(), []events.Event{appeared(2)}); err != nil {
		t.Fatal(err)
	}
	if gap := fl.lost(); gap.From != 0 || gap.To != 0 {
		t.Errorf("lost %+v", gap)
	}
	if view, _ := fl.ready(); len(view) != 1 {
		t.Errorf("%d are there", len(view))
	}
}

// A server that forgot an event which it had sent gives its sequence to another one.
func TestAnEventThatTheServerForgot(t *testing.T) {
	r := start(t)
	r.publish(t, all(0, 20, appeared)...)
	js, saved := filepath.Join(r.dir.Path(), "js"), filepath.Join(t.TempDir(), "js")
	restart := func(from, to string) {
		r.end()
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		r.run(t, "")
	}
	restart(js, saved)
	nc := r.connect(t, state.Observer)
	fl := r.follow(t, nc, follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, gone(3)))
	back := nc.StatusChanged(nats.CONNECTED)
	restart(saved, js)
	<-back
	r.publish(t, gone(4), gone(5)) // the second one's sequence follows on that of the forgotten one
	if gap := fl.lost(); gap.From != 0 || gap.To != 0 || gap.Why == "" {
		t.Errorf("lost %+v", gap)
	}
	view, _ := fl.ready()
	if d := cmp.Diff(r.view(t), view); d != "" {
		t.Errorf("what is there (-want +got):\n%s", d)
	}
	fl.events(r.publish(t, gone(6)))
}

func TestFollowOverServerRestarts(t *testing.T) {
	r := start(t)
	r.publish(t, all(0, 20, appeared)...)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	for n := range 3 {
		stored := r.publish(t, all(100*n, 100*n+10, appeared)...)
		fl.events(stored[:5])
		r.end()
		r.run(t, freeAddr(t)) // the port is another one
		stored = append(stored, r.publish(t, all(100*n, 100*n+10, gone)...)...)
		fl.events(stored[5:])
	}
}

// The watcher's service is needed for a snapshot only.
func TestFollowOverWatcherRestarts(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	r.stop()
	fl.events(r.publish(t, appeared(1)))
	r.serve(t)
	fl.events(r.publish(t, gone(1)))
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
