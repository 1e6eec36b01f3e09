package bus_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/reconcile"
)

// Two loops for one host on one server: the fence holds, no event is stored twice, none behind anything but what its
// writer knew to be the last, and both end with the same view.
func TestTwoFencedLogsForOneHost(t *testing.T) {
	r := start(t)
	const rounds = 120
	var writers [2]writer
	for i := range writers {
		js, err := jetstream.New(r.connect(t, embedded.Watcher))
		if err != nil {
			t.Fatal(err)
		}
		writers[i] = writer{log: bus.NewLog(js, host, r.epoch, quiet)}
		fold(t, writers[i].log)
	}
	for n := range rounds {
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() { writers[i].try(t, n) })
		}
		wg.Wait()
	}
	stored := make(map[string]uint64) // by what the log has, id to sequence
	next := uint64(1)
	for e, err := range bus.StoredEvents(t.Context(), r.nc, bus.From{}) {
		if err != nil {
			t.Fatal(err)
		}
		id := e.Event.Head().ID
		if was, twice := stored[id]; twice {
			t.Errorf("event %s is stored as %d and as %d", id, was, e.Seq)
		}
		if e.Seq != next {
			t.Errorf("%d is stored, want %d", e.Seq, next)
		}
		stored[id], next = e.Seq, e.Seq+1
	}
	acked := 0
	for i := range writers {
		w := &writers[i]
		acked += len(w.stored)
		for _, last := range w.stored {
			if got := stored[last.Event.Head().ID]; got != last.Seq {
				t.Errorf("acknowledged as %d, stored as %d", last.Seq, got)
			}
		}
		if w.astray > 0 {
			t.Errorf("writer %d: %d publishes stored behind something else than they expected", i, w.astray)
		}
	}
	if acked != len(stored) {
		t.Errorf("%d acknowledged, %d stored", acked, len(stored))
	}
	one, two := fold(t, writers[0].log), fold(t, writers[1].log)
	if fmt.Sprint(one.IDs()) != fmt.Sprint(two.IDs()) {
		t.Error("the two end with different views")
	}
	for i := range writers {
		if c := writers[i].log.Counts(); c.Conflicts == 0 {
			t.Errorf("writer %d met no conflict: %+v", i, c)
		}
	}
	t.Logf("%d rounds, %d events stored, %d and %d conflicts", rounds, acked,
		writers[0].log.Counts().Conflicts, writers[1].log.Counts().Conflicts)
}

// writer is one of two that publish at the same time.
type writer struct {
	log    *bus.Log
	stored []events.Last
	astray int // publishes that were not stored right behind what the writer knew
}

// try publishes once, a quarter of the time a batch, and folds after a conflict.
func (w *writer) try(t *testing.T, n int) {
	before, err := w.log.State()
	if err != nil {
		t.Error(err)
		return
	}
	evs := []events.Event{appeared(n)}
	if n%4 == 0 {
		evs = appearedAll(n, n+2+rand.N(20))
	}
	got, err := w.log.Publish(t.Context(), evs)
	if errors.Is(err, reconcile.ErrConflict) && len(got) == 0 {
		_, _, err = w.log.Fold(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
	if len(got) > 0 && got[0].Seq != before.Seq+1 {
		w.astray++
	}
	w.stored = append(w.stored, got...)
}
