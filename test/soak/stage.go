package main

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"peerbus/events"
	"peerbus/test/audit"
	"peerbus/test/soak/world"
)

const (
	// pace is the average pause between two actions of one stand-in: a hundred times what a busy person's does.
	pace = 450 * time.Millisecond

	// quietIn is how long the log may take to be as the world is, once nobody acts any more.
	quietIn = 5 * time.Second

	// readyIn is how long a watcher may take to watch, on a machine that is busy with other things as well.
	readyIn = 30 * time.Second
)

// stage is a world, a watcher that watches it, and what is heard of that.
type stage struct {
	*report
	world  *world.World
	daemon *daemon
	fold   *fold
	check  *checker
	quiets durations

	end   context.CancelFunc
	acted sync.WaitGroup
}

// newStage is a world of that many sessions that act, half of which are there when the watcher starts. Their home is in
// dir, and so is the state folder.
func (b *bench) newStage(ctx context.Context, r *report, dir string, size int) (*stage, error) {
	w, err := world.New(world.Options{Home: filepath.Join(dir, "home"), Exe: b.exe, Size: size, Pace: pace, Seed: b.seed})
	if err != nil {
		return nil, err
	}
	s := &stage{report: r, world: w, fold: newFold(), check: &checker{report: r, world: w}}
	s.daemon = &daemon{
		watcher: b.watcher, state: filepath.Join(dir, "state"), home: w.Home(),
		peer: s.fold.peer,
		event: func(l events.Last, heard time.Time) {
			s.check.event(l, heard)
			s.fold.event(l)
		},
		wrong: func(line string) { r.failf("the watcher prints %q", line) },
	}
	acting, end := context.WithCancel(ctx)
	s.end = end
	s.acted.Go(func() {
		if err := w.Run(acting); err != nil {
			r.failf("the world itself: %v", err)
		}
	})
	for w.Counts().Starts < size/2 && ctx.Err() == nil {
		sleep(ctx, 5*time.Millisecond)
	}
	if ctx.Err() != nil {
		s.close(false)
		return nil, context.Cause(ctx)
	}
	return s, nil
}

// open starts the watcher and returns when it watches and all sessions have begun.
func (s *stage) open() error {
	if err := s.daemon.start(); err != nil {
		return err
	}
	if err := s.daemon.awaitReady(readyIn); err != nil {
		_ = s.daemon.kill()
		return err
	}
	s.world.Filled()
	return nil
}

// close ends the watcher and then, so that nobody sees it, the world.
func (s *stage) close(running bool) {
	if running {
		if err := s.daemon.stop(); err != nil {
			s.failf("%v", err)
		}
	}
	s.end()
	s.acted.Wait()
}

// quiet holds the world still until the watcher says of it what is so, and tells a failure if it does not.
func (s *stage) quiet(ctx context.Context, when string, within time.Duration) {
	s.still(ctx, when, within)()
}

// still is quiet, and keeps the world still until resume is called.
func (s *stage) still(ctx context.Context, when string, within time.Duration) (resume func()) {
	resume = s.world.Quiet()
	begun, truth := time.Now(), s.world.Here()
	for {
		wrong := s.fold.against(truth)
		took := time.Since(begun)
		if len(wrong) == 0 {
			s.quiets.add(took)
			return resume
		}
		if took > within || ctx.Err() != nil {
			for _, w := range wrong {
				s.failf("%s, %v after the last action: %s", when, took.Round(time.Millisecond), w)
			}
			return resume
		}
		sleep(ctx, time.Millisecond)
	}
}

// tally adds what happened to the summary.
func (s *stage) tally() {
	c := s.world.Counts()
	s.factf("%s actions (%s starts, %s quits, %s kills, %s clears)", thousands(c.Actions), thousands(c.Starts),
		thousands(c.Quits), thousands(c.Kills), thousands(c.Clears))
	s.factf("%s events heard", thousands(s.fold.count()))
	s.factf("%d quiet points (%s)", s.quiets.count(), &s.quiets)
}

// audited is the whole log, of which every event was held against the truth; see [stage.readLog].
func (s *stage) audited(ctx context.Context) ([]events.Last, error) {
	log, err := s.readLog(ctx)
	for _, l := range log {
		s.check.event(l, time.Time{})
	}
	return log, err
}

// readLog reads the whole log while the world is held still, and holds the events against each other, and what they add
// up to against what is there.
func (s *stage) readLog(ctx context.Context) ([]events.Last, error) {
	defer s.still(ctx, "at the end", quietIn)()
	log, err := storedLog(ctx, s.daemon.state)
	if err != nil {
		return nil, err
	}
	s.factf("%s events in the log", thousands(len(log)))
	view := make(events.View)
	for _, l := range log {
		view.Apply(l.Seq, l.Event)
	}
	for _, w := range unlike(peersOf(view), s.world.Here()) {
		s.failf("the whole log, at the end: %s", w)
	}
	auditLog(s.report, log)
	return log, nil
}

// auditLog tells what cannot have happened as the log stands, but for the kinds allowed.
func auditLog(r *report, log []events.Last, allow ...audit.Kind) {
	for _, p := range audit.Audit(log) {
		if !slices.Contains(allow, p.Kind) {
			r.failf("audit: %v", p)
		}
	}
	for i := 1; i < len(log); i++ {
		if log[i].Seq != log[i-1].Seq+1 {
			r.failf("the log has nothing between %d and %d", log[i-1].Seq, log[i].Seq)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
