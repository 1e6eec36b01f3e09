package main

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"peerbus/events"
	"peerbus/internal/state"
)

// roles are those whose programs follow.
var roles = []string{state.Observer, state.SenderRole(state.LocalSender), state.Mailer}

// subscribers has programs of every role connect while a lot happens, and compares what each was told with the log.
func subscribers(ctx context.Context, b *bench, r *report) error {
	dir, err := b.folder("subscribers")
	if err != nil {
		return err
	}
	ended, live, many, lasts := b.count(3000), b.count(300), b.count(200), b.duration(40*time.Second)
	r.factf("%s ended and %s live peers, %s subscribers over %v", thousands(ended), thousands(live), thousands(many), lasts)
	home := filepath.Join(dir, "home")
	if err := writeHistory(ctx, filepath.Join(dir, "state"), home, ended); err != nil {
		return err
	}
	s, err := b.newStage(ctx, r, dir, live)
	if err != nil {
		return err
	}
	s.daemon.event = func(l events.Last, _ time.Time) { s.fold.event(l) }
	if err := s.open(); err != nil {
		s.close(false)
		return err
	}
	defer s.close(true)

	all := s.subscribe(ctx, many, lasts, rand.New(rand.NewPCG(b.seed, 'u')))
	s.quiet(ctx, "after the last subscriber", quietIn)
	log, err := s.readLog(ctx)
	if err != nil {
		return err
	}
	s.comparisons(all, log)
	s.tally()
	return nil
}

// subscribe returns when all have come and gone.
func (s *stage) subscribe(ctx context.Context, many int, lasts time.Duration, rng *rand.Rand) []*subscriber {
	const stay = 2 * time.Second
	var all []*subscriber
	var wg sync.WaitGroup
	for i := range many {
		sub := &subscriber{
			role:   roles[i%len(roles)],
			begins: time.Duration(rng.Int64N(int64(lasts))),
			stays:  time.Duration(rng.Int64N(int64(stay))),
		}
		all = append(all, sub)
		wg.Go(func() {
			sleep(ctx, sub.begins)
			if err := sub.run(ctx, s.daemon.state); err != nil {
				s.failf("%s: %v", sub.role, err)
			}
		})
	}
	wg.Wait()
	return all
}

// comparisons checks that each was told what was there at some sequence, and then every event once.
func (s *stage) comparisons(all []*subscriber, log []events.Last) {
	var told int
	var ready durations
	at := byReady(all)
	view := make(events.View)
	for i, l := range log {
		view.Apply(l.Seq, l.Event)
		for _, sub := range at[l.Seq] {
			for _, w := range unlike(sub.view, peersOf(view)) {
				s.failf("%s at seq %d: %s", sub.role, l.Seq, w)
			}
			sub.compare(s.report, log[i+1:])
			told += len(sub.tail)
			ready.add(sub.took)
		}
	}
	for _, sub := range all {
		for _, w := range sub.wrong {
			s.failf("%s: %s", sub.role, w)
		}
	}
	if len(all) != ready.count() {
		s.failf("%d of %d subscribers were told what is there", ready.count(), len(all))
	}
	s.factf("%s events told to them, ready after %s", thousands(told), &ready)
}

// byReady are the subscribers by the sequence of what they were told is there.
func byReady(all []*subscriber) map[uint64][]*subscriber {
	out := make(map[uint64][]*subscriber)
	for _, sub := range all {
		if sub.ready {
			out[sub.seq] = append(out[sub.seq], sub)
		}
	}
	return out
}
