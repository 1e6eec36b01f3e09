package claude

import (
	"testing"

	"peerbus/internal/proc"
	"peerbus/reconcile"
)

func BenchmarkScopedRead(b *testing.B) { benchmarkRead(b, true) }

func BenchmarkFullSweep(b *testing.B) { benchmarkRead(b, false) }

// benchmarkRead reads 300 records, each of a live process: all that were not changed, or one that may have been.
func benchmarkRead(b *testing.B, one bool) {
	w := newWorld(b)
	var p process
	for range 300 {
		p = spawn(b)
		r := p.idle("s")
		r.Domain = proc.Domain()
		w.write(r)
	}
	w.skew = 2 * young // not young any more
	known := w.h.Read(b.Context(), nil, nil).Peers
	if len(known) != 300 {
		b.Fatalf("%d peers", len(known))
	}
	var of []reconcile.Place
	if one {
		of = []reconcile.Place{w.at(p.pid)}
	}
	b.ReportAllocs()
	for b.Loop() {
		w.h.Read(b.Context(), of, known)
	}
}

// BenchmarkStatSweep is the part of a sweep that looks at the files, without asking whether the processes live.
func BenchmarkStatSweep(b *testing.B) {
	w := newWorld(b)
	for pid := range 300 {
		w.must(writeRecord(w.folder(), written{PID: 1000 + pid, Session: "s", Status: "idle"}))
	}
	w.skew = 2 * young
	w.read()
	hm := w.h.homes[0]
	b.ReportAllocs()
	for b.Loop() {
		d, _ := hm.enter(w.h.now(), false, func(folderID) *home { return nil })
		if err := hm.sweepIn(d, w.h.now()); err != nil {
			b.Fatal(err)
		}
		d.close()
	}
}
