package reconcile

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// queue collects the places in which something may have changed. A place that is not yet taken stands for all that
// happens there until it is.
type queue struct {
	mu    sync.Mutex
	dirty map[Place]bool
	ready chan struct{} // holds a token while dirty is not empty
}

func newQueue() *queue {
	return &queue{dirty: make(map[Place]bool), ready: make(chan struct{}, 1)}
}

func (q *queue) add(p Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dirty[p] = true
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *queue) take() []Place {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.ready:
	default:
	}
	places := slices.Collect(maps.Keys(q.dirty))
	clear(q.dirty)
	return places
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.dirty) == 0
}

// agenda holds when a place wants another look. It belongs to the loop's goroutine.
type agenda struct {
	due   map[Place]time.Time
	timer *time.Timer
}

func newAgenda() *agenda {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &agenda{due: make(map[Place]time.Time), timer: t}
}

// set keeps the earlier of two wishes for one place.
func (a *agenda) set(now time.Time, wishes []Again) {
	for _, w := range wishes {
		at := now.Add(w.After)
		if old, ok := a.due[w.Place]; !ok || at.Before(old) {
			a.due[w.Place] = at
		}
	}
	a.arm(now)
}

// take is the places that are due.
func (a *agenda) take(now time.Time) []Place {
	var places []Place
	for p, at := range a.due {
		if !at.After(now) {
			places = append(places, p)
			delete(a.due, p)
		}
	}
	a.arm(now)
	return places
}

func (a *agenda) arm(now time.Time) {
	a.timer.Stop()
	var next time.Time
	for _, at := range a.due {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() {
		a.timer.Reset(next.Sub(now))
	}
}
