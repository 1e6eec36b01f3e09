package follow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/internal/state"
)

const (
	ended = 3000
	live  = 300
)

// scaled is n at PEERBUS_SCALE, which is 0.2 where it is not set.
func scaled(t *testing.T, n int) int {
	t.Helper()
	scale := 0.2
	if s := os.Getenv("PEERBUS_SCALE"); s != "" {
		var err error
		if scale, err = strconv.ParseFloat(s, 64); err != nil {
			t.Fatal(err)
		}
	}
	return max(1, int(scale*float64(n)))
}

// A subscriber of each role that connects at any moment, with 3,000 ended and 300 live peers in the log: snapshot and
// tail are the truth, with no gap and no duplicate, though messages are lost, connections cut, and others forged.
func TestSubscriberOfEachRoleAtAnyMoment(t *testing.T) {
	r := start(t)
	r.fill(t)
	truth := newTruth(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	defer load.Wait()
	defer cancel()
	load.Go(func() { truth.publish(ctx) })
	roles := []string{state.Observer, state.SenderRole(state.LocalSender), state.Mailer}
	forgers := make([]*forger, len(roles))
	for i, role := range roles {
		forgers[i] = newForger(t, r, role)
		load.Go(func() { forgers[i].forge(ctx) })
	}
	trials := make(chan int)
	var subscribers sync.WaitGroup
	for range 6 {
		subscribers.Go(func() {
			for n := range trials {
				tr := &trial{t: t, truth: truth, nc: r.connect(t, roles[n%len(roles)]), kind: kind(n % kinds)}
				if err := tr.run(ctx); err != nil {
					t.Errorf("trial %d, %s, %d: %v", n, roles[n%len(roles)], tr.kind, err)
				}
			}
		})
	}
	count := scaled(t, 200)
	for n := range count {
		trials <- n
	}
	close(trials)
	subscribers.Wait()
	var forged int64
	for i, f := range forgers {
		if f.heard.Load() == 0 {
			t.Errorf("%s heard nothing forged", roles[i])
		}
		forged += f.heard.Load()
	}
	t.Logf("%d subscribers, %d events meanwhile, %d forged messages heard", count, truth.last()-truth.base.Seq, forged)
}

// fill makes the log's past.
func (r *rig) fill(t *testing.T) {
	t.Helper()
	for from := 0; from < ended; from += 500 {
		r.publish(t, all(from, from+500, appeared)...)
		r.publish(t, all(from, from+500, gone)...)
	}
	r.publish(t, all(ended, ended+live, appeared)...)
}

// kind is what befalls a subscriber.
type kind int

const (
	undisturbed kind = iota
	tooSlow          // it loses most of the messages
	cut              // its connection, while it follows
	cutEarly         // its connection, while it is told what is there
	littleSlow       // it loses some of the messages
	kinds       = iota
)

// trial is one subscriber.
type trial struct {
	t     *testing.T
	truth *truth
	nc    *nats.Conn
	kind  kind

	view events.View
	seq  uint64 // of the snapshot
	told []events.Last
}

func (tr *trial) run(ctx context.Context) error {
	defer tr.nc.Close()
	tr.view = make(events.View)
	keep, events := 1024, 15+rand.N(40)
	switch tr.kind {
	case tooSlow:
		keep = 1
	case littleSlow:
		keep = 8
	}
	err := follow.Keeping(ctx, tr.nc, follow.Filter{}, keep, func(c follow.Change) error {
		if err := tr.take(ctx, c); err != nil {
			return err
		}
		if len(tr.told) == events {
			return errEnough
		}
		return nil
	})
	if err != errEnough {
		return err
	}
	return tr.judge(ctx)
}

func (tr *trial) take(ctx context.Context, c follow.Change) error {
	switch {
	case c.Lost != nil:
		return fmt.Errorf("lost %+v", *c.Lost)
	case c.Ready:
		tr.seq = c.Seq
		return nil
	case c.Snapshot:
		if tr.kind == cutEarly && len(tr.view) == 7 {
			if err := tr.nc.ForceReconnect(); err != nil {
				return err
			}
		}
		tr.view.Apply(c.Seq, c.Event)
		return nil
	}
	tr.told = append(tr.told, events.Last{Seq: c.Seq, Event: c.Event})
	switch {
	case tr.kind == cut && len(tr.told)%20 == 10:
		return tr.nc.ForceReconnect()
	case tr.kind == tooSlow, tr.kind == littleSlow && len(tr.told)%10 == 0:
		return tr.truth.wait(ctx, c.Seq+10)
	}
	return nil
}

// judge compares what was told with the truth.
func (tr *trial) judge(ctx context.Context) error {
	end := tr.told[len(tr.told)-1].Seq
	if err := tr.truth.wait(ctx, end); err != nil {
		return err
	}
	if want := tr.truth.view(tr.seq); !reflect.DeepEqual(want, tr.view) {
		return fmt.Errorf("what is there at %d (-want +told):\n%s", tr.seq, cmp.Diff(want, tr.view))
	}
	if want := tr.truth.events(tr.seq, end); !reflect.DeepEqual(want, tr.told) {
		return fmt.Errorf("what happened from %d to %d (-want +told):\n%s", tr.seq, end, cmp.Diff(want, tr.told))
	}
	for _, last := range tr.told {
		tr.view.Apply(last.Seq, last.Event)
	}
	if want := tr.truth.view(end); !reflect.DeepEqual(want, tr.view) {
		return fmt.Errorf("what is there in the end (-want +told):\n%s", cmp.Diff(want, tr.view))
	}
	return nil
}
