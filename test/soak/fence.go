package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/claude"
	"peerbus/reconcile"
	"peerbus/test/audit"
	"peerbus/test/soak/world"
)

// fence has two loops for one host publish on one server what they see of one home, one of them slowly, by turns. Only
// one of the two can be right at a time about what the log says; the fence has to see to it that the other one does not
// write.
func fence(ctx context.Context, b *bench, r *report) error {
	dir, err := b.folder("fence")
	if err != nil {
		return err
	}
	bed, err := startBed(ctx, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}
	defer bed.close()
	// Each loop has its turns to be the slower one.
	sessions, lasts := b.count(100), max(b.duration(30*time.Second), 4*time.Second)
	r.factf("%d sessions for %v", sessions, lasts)
	w, err := world.New(world.Options{Home: filepath.Join(dir, "home"), Exe: b.exe, Size: sessions, Pace: pace, Seed: b.seed})
	if err != nil {
		return err
	}
	f := &fencing{report: r, bed: bed, world: w, check: &checker{report: r, world: w}}
	f.begun, f.seed = time.Now(), b.seed
	acting, end := context.WithCancel(ctx)
	looping, stop := context.WithCancel(ctx)
	var acted, looped sync.WaitGroup
	defer acted.Wait()
	defer end()
	defer looped.Wait()
	defer stop()
	acted.Go(func() {
		if err := w.Run(acting); err != nil {
			r.failf("the world itself: %v", err)
		}
	})
	for turn := range 2 {
		if err := f.loop(looping, &looped, turn); err != nil {
			return err
		}
	}
	w.Filled()
	sleep(ctx, lasts)
	return f.compare(ctx)
}

type fencing struct {
	*report
	bed   *bed
	world *world.World
	check *checker
	logs  []*bus.Log
	loops []*reconcile.Loop
	begun time.Time
	seed  uint64
}

// loop starts a loop that is the slower one when it is its turn.
func (f *fencing) loop(ctx context.Context, running *sync.WaitGroup, turn int) error {
	log, err := f.bed.log(ctx)
	if err != nil {
		return err
	}
	harness := &tardy{
		Harness: claude.New([]string{f.world.Home()}, claude.Options{}),
		rng:     rand.New(rand.NewPCG(f.seed, uint64(turn))), begun: f.begun, turn: time.Duration(turn),
	}
	l := reconcile.New(f.bed.dir.Host(), log, slog.New(slog.DiscardHandler), harness)
	l.Each = func(last events.Last) { f.check.event(last, time.Now()) }
	f.logs, f.loops = append(f.logs, log), append(f.loops, l)
	name := fmt.Sprintf("loop %d", len(f.loops))
	running.Go(func() {
		if err := l.Run(ctx); ctx.Err() == nil {
			f.failf("%s ended: %v", name, err)
		}
	})
	return nil
}

// compare waits until both loops say what is so, and looks at what they have written.
func (f *fencing) compare(ctx context.Context) error {
	resume := f.world.Quiet()
	defer resume()
	truth := f.world.Here()
	for i, log := range f.logs {
		var wrong []string
		for begun := time.Now(); time.Since(begun) < quietIn && ctx.Err() == nil; sleep(ctx, 5*time.Millisecond) {
			at, err := log.State()
			if err != nil {
				return err
			}
			if wrong = unlike(peersOf(at.View), truth); len(wrong) == 0 {
				break
			}
		}
		for _, text := range wrong {
			f.failf("loop %d, in the end: %s", i+1, text)
		}
	}
	log, err := storedLog(ctx, f.bed.dir.Path())
	if err != nil {
		return err
	}
	// Of two loops each begins to watch while the other does already.
	auditLog(f.report, log, audit.WhileBlind)
	f.factf("%s actions, %s events in the log", thousands(f.world.Counts().Actions), thousands(len(log)))
	for i, l := range f.loops {
		s := l.Stats()
		f.factf("loop %d stored %s and met %s conflicts", i+1, thousands(s.Published), thousands(s.Conflicts))
		if s.Published == 0 || s.Conflicts == 0 {
			f.failf("loop %d stored %d events and met %d conflicts; nothing was put to the test", i+1, s.Published, s.Conflicts)
		}
	}
	return nil
}

// tardy is a harness that is slow to read, and slow to tell what it has read, for one second in two.
type tardy struct {
	reconcile.Harness
	rng   *rand.Rand
	begun time.Time
	turn  time.Duration // when its second is: 0 or 1
}

// Read implements [reconcile.Harness].
func (t *tardy) Read(ctx context.Context, of []reconcile.Place, known []events.Peer) reconcile.Snapshot {
	t.dawdle(ctx)
	s := t.Harness.Read(ctx, of, known)
	t.dawdle(ctx)
	return s
}

func (t *tardy) dawdle(ctx context.Context) {
	if time.Since(t.begun)/time.Second%2 == t.turn {
		sleep(ctx, time.Duration(t.rng.Int64N(int64(40*time.Millisecond))))
	}
}
