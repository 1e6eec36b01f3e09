package world

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a [World] is made of.
type Options struct {
	Home string        // the Claude home, an absolute path
	Exe  string        // a program that calls [StandIn] first
	Size int           // sessions at a time
	Pace time.Duration // between two actions of a session, on average
	Seed uint64        // the same one has the same sessions draw the same actions
}

// World is a Claude home and what lives in it.
type World struct {
	*truth

	home, exe string
	size      int
	pace      time.Duration
	seed      uint64

	gate   sync.RWMutex  // whoever acts holds it for reading
	births chan struct{} // holds as many as may begin at a time
	filled sync.WaitGroup
	doomed atomic.Int64
}

// births is how many processes are started at a time; more only stand in each other's way.
const births = 4

// New makes the home, with its folder of records and nobody in it.
func New(o Options) (*World, error) {
	if err := os.MkdirAll(filepath.Join(o.Home, "sessions"), 0o700); err != nil {
		return nil, fmt.Errorf("make home: %w", err)
	}
	w := &World{truth: newTruth(), home: o.Home, exe: o.Exe, size: o.Size, pace: o.Pace, seed: o.Seed, births: make(chan struct{}, births)}
	w.filled.Add(o.Size)
	return w, nil
}

// Home is the Claude home.
func (w *World) Home() string { return w.home }

// Run has the stand-ins act until ctx ends; an ended session is followed by another one. It returns when all their
// processes are gone, with what went wrong with the stand-ins themselves.
func (w *World) Run(ctx context.Context) error {
	errs := make([]error, w.size)
	var wg sync.WaitGroup
	for i := range w.size {
		wg.Go(func() { errs[i] = w.slot(ctx, rand.New(rand.NewPCG(w.seed, uint64(i)))) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Filled returns when every session has begun once. Run must be running.
func (w *World) Filled() { w.filled.Wait() }

// Quiet returns when nobody acts, and has nobody act until resume is called.
func (w *World) Quiet() (resume func()) {
	w.gate.Lock()
	return w.gate.Unlock
}

// Doom has the next n sessions that act end.
func (w *World) Doom(n int) { w.doomed.Add(int64(n)) }

// slot is one session after another.
func (w *World) slot(ctx context.Context, rng *rand.Rand) error {
	var first sync.Once
	filled := func() { first.Do(w.filled.Done) }
	defer filled()
	for ctx.Err() == nil {
		a, err := w.begin(rng)
		if err != nil {
			return err
		}
		filled()
		err = w.live(ctx, a)
		a.buried(ctx)
		if err != nil {
			return err
		}
		pause(ctx, time.Duration(rng.Int64N(int64(w.pace))))
	}
	return nil
}

func (w *World) begin(rng *rand.Rand) (*actor, error) {
	w.births <- struct{}{}
	defer func() { <-w.births }()
	w.gate.RLock()
	defer w.gate.RUnlock()
	return w.born(rng)
}

// live has a act until it is over. When ctx ends it is over too, by death.
func (w *World) live(ctx context.Context, a *actor) error {
	for {
		pause(ctx, time.Duration(a.rng.ExpFloat64()*float64(w.pace)))
		w.gate.RLock()
		var over bool
		var err error
		if ctx.Err() != nil {
			over, err = true, a.proc.kill()
		} else if w.doomed.Load() > 0 && w.doomed.Add(-1) >= 0 {
			over, err = true, a.end()
		} else {
			over, err = a.act()
		}
		w.gate.RUnlock()
		if over || err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
