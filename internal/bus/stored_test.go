package bus_test

import (
	"errors"
	"testing"
	"time"

	"peerbus/internal/bus"
	"peerbus/internal/state"
)

func TestStoredEvents(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 600)...)
	if _, err := r.js.Publish(t.Context(), "ingest.peers.v1."+token+".a.b.c.new", []byte("no event")); err != nil {
		t.Fatal(err)
	}
	fold(t, r.log)
	between := time.Now()
	publish(t, r.log, appearedAll(600, 1200)...)
	nc := r.connect(t, state.Observer)
	for name, tc := range map[string]struct {
		from  bus.From
		first uint64
		n     int
	}{
		"all":            {bus.From{}, 1, 1200},
		"a sequence":     {bus.From{Seq: 500}, 500, 701},
		"behind the end": {bus.From{Seq: 1202}, 0, 0},
		"the undecoded":  {bus.From{Seq: 601}, 602, 600},
		"an instant":     {bus.From{Since: between}, 602, 600},
		"the future":     {bus.From{Since: between.Add(time.Hour)}, 0, 0},
		"both":           {bus.From{Seq: 1200, Since: between}, 1200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			n, first, last := 0, uint64(0), uint64(0)
			for e, err := range bus.StoredEvents(t.Context(), nc, tc.from) {
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					first = e.Seq
				}
				if e.Seq <= last || e.Event == nil || e.Time.IsZero() {
					t.Fatalf("%+v behind %d", e, last)
				}
				last = e.Seq
				n++
			}
			if n != tc.n || first != tc.first {
				t.Errorf("%d events from %d on, want %d from %d on", n, first, tc.n, tc.first)
			}
		})
	}
}

func TestStoredEventsEndWithAnError(t *testing.T) {
	r := start(t)
	if err := r.js.DeleteStream(t.Context(), bus.Peers); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range bus.StoredEvents(t.Context(), r.nc, bus.From{}) {
		n++
		if !errors.Is(err, bus.ErrNobody) {
			t.Errorf("error %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d times round, want once", n)
	}
}
