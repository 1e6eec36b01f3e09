package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"peerbus/events"
)

// crash kills the watcher again and again and starts it anew at once, while the sessions go on to act.
func crash(ctx context.Context, b *bench, r *report) error {
	dir, err := b.folder("crash")
	if err != nil {
		return err
	}
	sessions, kills := b.count(300), b.count(100)
	r.factf("%d sessions", sessions)
	s, err := b.newStage(ctx, r, dir, sessions)
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		s.close(false)
		return err
	}
	c := &crashing{stage: s, rng: rand.New(rand.NewPCG(b.seed, 'c')), watched: 1}
	for len(c.deaths) < kills && ctx.Err() == nil {
		if err := c.round(ctx); err != nil {
			s.close(false)
			return err
		}
	}
	defer s.close(true)
	log, err := s.audited(ctx)
	if err != nil {
		return err
	}
	c.resumed(log)
	missed := checkMissed(r, log, s.world.Lives(), outages(log, c.deaths))
	if missed == 0 {
		r.failf("no session went while no watcher ran")
	}
	r.factf("%s goings missed", thousands(missed))
	s.tally()
	return nil
}

type crashing struct {
	*stage
	rng     *rand.Rand
	deaths  []time.Time // when a killed watcher surely ran no more
	watched int         // starts that came to watch
	startup durations
}

// round kills the watcher, at times once more while it starts, and compares once it watches again.
func (c *crashing) round(ctx context.Context) error {
	sleep(ctx, 20*time.Millisecond+c.upTo(400*time.Millisecond))
	if err := c.restart(); err != nil {
		return err
	}
	for c.rng.IntN(4) == 0 {
		sleep(ctx, c.upTo(150*time.Millisecond))
		if c.came() {
			c.watched++
		}
		if err := c.restart(); err != nil {
			return err
		}
	}
	begun := time.Now()
	if err := c.daemon.awaitReady(readyIn); err != nil {
		_ = c.daemon.kill()
		return err
	}
	c.startup.add(time.Since(begun))
	c.watched++
	sleep(ctx, c.upTo(100*time.Millisecond))
	c.quiet(ctx, fmt.Sprintf("after kill %d", len(c.deaths)), quietIn)
	return nil
}

// restart kills the watcher and starts the next one at once.
func (c *crashing) restart() error {
	if err := c.daemon.kill(); err != nil {
		return err
	}
	c.deaths = append(c.deaths, time.Now())
	c.fold.reset()
	c.world.Doom(1) // somebody ends while no watcher runs
	return c.daemon.start()
}

func (c *crashing) came() bool {
	select {
	case <-c.daemon.ready:
		return true
	default:
		return false
	}
}

func (c *crashing) upTo(d time.Duration) time.Duration { return time.Duration(c.rng.Int64N(int64(d))) }

// resumed checks that every start that came to watch has said since when nobody did. One that was killed before it
// could print may have said it too.
func (c *crashing) resumed(log []events.Last) {
	said := 0
	for _, l := range log {
		if r, ok := l.Event.(events.WatchResumed); ok {
			if said++; r.Why != events.Start {
				c.failf("seq %d: WatchResumed{%s}", l.Seq, r.Why)
			}
		}
	}
	starts := len(c.deaths) + 1
	if said < c.watched || said > starts {
		c.failf("%d WatchResumed in the log; %d watchers were started and %d came to watch", said, starts, c.watched)
	}
	c.factf("%d kills of the watcher, %d WatchResumed", len(c.deaths), said)
	c.factf("watching again after %s", &c.startup)
}
