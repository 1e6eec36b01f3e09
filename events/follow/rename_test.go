package follow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"peerbus/events/follow"
	"peerbus/internal/state"
)

// rename starts everything anew under another name of the host.
func (r *rig) rename(t *testing.T, name string) {
	t.Helper()
	r.end()
	r.dir.Close()
	var err error
	if r.dir, err = state.Claim(r.dir.Path(), state.Claiming{Host: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.dir.Close)
	if err := r.dir.SettleHost(); err != nil {
		t.Fatal(err)
	}
	r.run(t, freeAddr(t))
}

// The server's own host is followed under whatever name it has.
func TestFollowOverARenamingOfTheHost(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{})
	fl.ready()
	fl.events(r.publish(t, appeared(1)))
	for n, name := range []string{"desk.local", "shelf"} {
		r.rename(t, name)
		before := r.publish(t, appeared(10+n))
		if gap := fl.lost(); gap.From != 0 || gap.To != 0 || gap.Why == "" {
			t.Errorf("lost %+v", gap)
		}
		view, seq := fl.ready()
		if d := cmp.Diff(r.view(t), view); d != "" || len(view) != 1 || seq != before[0].Seq {
			t.Errorf("what is there at %d (-want +got):\n%s", seq, d)
		}
		stored := r.publish(t, appeared(20+n))
		fl.events(stored)
		if got := stored[0].Event.Head().Host; got != name {
			t.Errorf("an event of %s, want %s", got, name)
		}
	}
}

// The name may change while nobody answers for the host yet.
func TestFollowWaitsForAHostThatIsRenamed(t *testing.T) {
	r := start(t)
	r.stop()
	nc := r.connect(t, state.Observer)
	asked := make(chan *nats.Msg, 1000)
	operator := r.connect(t, state.Operator)
	if _, err := operator.ChanSubscribe("watcher.v1."+token+".snapshot", asked); err != nil {
		t.Fatal(err)
	}
	if err := operator.Flush(); err != nil {
		t.Fatal(err)
	}
	fl := r.follow(t, nc, follow.Filter{})
	<-asked
	r.rename(t, "desk.local")
	if view, _ := fl.ready(); len(view) != 0 {
		t.Errorf("%d are there", len(view))
	}
	fl.events(r.publish(t, appeared(1)))
}

// A host that is named in the filter is followed under that name alone.
func TestFollowOfANamedHostOverItsRenaming(t *testing.T) {
	r := start(t)
	fl := r.follow(t, r.connect(t, state.Observer), follow.Filter{Host: host})
	fl.ready()
	fl.events(r.publish(t, appeared(1)))
	r.rename(t, "desk.local")
	r.publish(t, appeared(2))
	r.rename(t, host)
	fl.events(r.publish(t, gone(1)))
}
