package events_test

import (
	"strconv"
	"testing"

	"peerbus/events"
)

// changed is the event that is most frequent on the wire.
var changed = golden["StatusChanged"].event

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := events.Encode(changed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := events.Encode(changed)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := events.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply folds an event about one of 300 live peers.
func BenchmarkApply(b *testing.B) {
	evs := make([]events.Event, 300)
	for i := range evs {
		p := full
		p.Session = "session-" + strconv.Itoa(i)
		evs[i] = events.PeerPresent{Meta: meta, Peer: p}
	}
	view := events.View{}
	var seq uint64
	b.ReportAllocs()
	for b.Loop() {
		seq++
		view.Apply(seq, evs[seq%300])
	}
	if len(view) > len(evs) {
		b.Fatalf("%d peers of %d", len(view), len(evs))
	}
}
