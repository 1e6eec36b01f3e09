package reconcile

import (
	"sync"
	"time"
)

// Stats are the counts of a running [Loop].
type Stats struct {
	Sweeps    uint64        // full looks since the start
	LastSweep time.Time     // when the last one ended
	SweepTook time.Duration // how long it took
	Published uint64        // events stored since the start
	Conflicts uint64        // how often somebody else had written to the log
	Refused   uint64        // events that the log refused for their content
	Lag       time.Duration // from a look to its events being on disk, at the last time there were any
}

type stats struct {
	mu  sync.Mutex
	now Stats
}

func (s *stats) update(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
}

func (s *stats) get() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}
