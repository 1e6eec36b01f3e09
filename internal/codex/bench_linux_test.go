package codex

import (
	"testing"
	"time"

	"peerbus/reconcile"
)

// many is how many threads one daemon has loaded on a machine of which that is asked much.
const many = 300

func manyThreads(b *testing.B) (*stage, []string) {
	s, p := newStage(b), spawn(b)
	threads := make([]string, many)
	for i := range threads {
		threads[i] = s.hold(p)
		s.write(threads[i], metaLine(threads[i]), turnLine("task_started"))
	}
	s.read()
	s.has(threads...)
	return s, threads
}

// BenchmarkCensus asks who holds 300 threads: one reading of /proc/locks. Back to back that is cheap; it costs 8 to
// 16 ms where nobody has read it for a second.
func BenchmarkCensus(b *testing.B) {
	s, _ := manyThreads(b)
	files := s.h.files()
	b.ReportAllocs()
	for b.Loop() {
		if c := takeCensus(files); len(c.of) != many {
			b.Fatalf("%d are held", len(c.of))
		}
	}
}

// BenchmarkSweep looks at 300 threads of which nothing is new.
func BenchmarkSweep(b *testing.B) {
	s, _ := manyThreads(b)
	b.ReportAllocs()
	for b.Loop() {
		s.h.Read(b.Context(), nil, nil)
	}
	if s.h.censuses > 2+int(b.Elapsed()/censusEvery) {
		b.Errorf("/proc/locks was read %d times in %v", s.h.censuses, b.Elapsed())
	}
}

// BenchmarkTurn looks at the one thread of 300 in whose rollout there is a new line.
func BenchmarkTurn(b *testing.B) {
	s, threads := manyThreads(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s.write(threads[7], itemLine)
		b.StartTimer()
		s.h.Read(b.Context(), []reconcile.Place{s.at(threads[7])}, nil)
	}
}

// BenchmarkCold asks once a second, as a sweep would that did so without a cause.
func BenchmarkCold(b *testing.B) {
	s, _ := manyThreads(b)
	files := s.h.files()
	var took time.Duration
	n := 0
	for b.Loop() {
		<-time.After(time.Second)
		began := time.Now()
		takeCensus(files)
		took += time.Since(began)
		n++
	}
	b.ReportMetric(float64(took.Microseconds())/float64(n), "µs/reading")
}
