package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"peerbus/events"
)

const (
	// sweepEvery is how often everything is looked at. The sweep is what makes the picture right: notices of the
	// kernel have silent holes. A sweep by stat costs 0.1 ms for 100 records.
	sweepEvery = time.Second

	// burst is after how many looks without a pause between them notices are said to come faster than they can be
	// read. Fewer would delay the healing of a record that was met half-written, whose second notice comes at once.
	burst = 8

	// tick is how long notices are collected while they come faster than they can be read. It is fixed: a session
	// that writes all the time does not put the look off.
	tick = 10 * time.Millisecond

	// presentEvery is how often a peer about which nothing happens is repeated at the least. The log keeps a week.
	presentEvery = 24 * time.Hour

	// presentCheck is how often it is asked who is to be repeated.
	presentCheck = time.Minute
)

// Loop reads, compares and publishes. Set the fields, then call Run; they are not changed afterwards.
type Loop struct {
	Host      string
	Harnesses []Harness
	Log       Log
	Logger    *slog.Logger

	// Now is the clock that events carry.
	Now func() time.Time
	// Watched is until when everything was watched before Run, as Beat was told; zero for never.
	Watched time.Time
	// Beat is called after each sweep whose events are stored, with the time until which everything was watched.
	Beat func(time.Time)
	// Older is the sequence below which events lie in the older half of what the log retains, 0 if none do.
	Older func(context.Context) (uint64, error)
	// Ready is called once, when what was there at the start is published.
	Ready func(events.View)
	// Each is called with each event once it is stored, those before Ready too.
	Each func(events.Last)

	queue   *queue
	agenda  *agenda
	vigil   vigil
	view    events.View
	blind   []Blind // not yet published
	refused map[events.ID]events.Peer
	checked time.Time
	stats   stats
}

// New returns a loop with the fields that have no use as zero filled in.
func New(host string, log Log, logger *slog.Logger, harnesses ...Harness) *Loop {
	return &Loop{
		Host: host, Harnesses: harnesses, Log: log, Logger: logger,
		Now:   time.Now,
		Beat:  func(time.Time) {},
		Older: func(context.Context) (uint64, error) { return 0, nil },
		Ready: func(events.View) {},
		Each:  func(events.Last) {},
		queue: newQueue(), refused: make(map[events.ID]events.Peer),
	}
}

// Stats are the counts so far. It may be called beside Run.
func (l *Loop) Stats() Stats { return l.stats.get() }

// Run folds the log, reads the world, publishes the difference, and goes on to do so at every notice and every
// second, until ctx ends, whose cause it returns. A conflict in the log is folded and read anew; any other failure
// of the log ends Run, with nothing half-applied: the next Run publishes what is missing. Run is called once.
func (l *Loop) Run(ctx context.Context) error {
	if err := l.fold(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel(errors.New("the loop has ended"))
	for _, h := range l.Harnesses {
		watches.Go(func() {
			if err := h.Watch(ctx, l.queue.add); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("watch %s: %w", h.Name(), err))
			}
		})
	}
	l.agenda = newAgenda()
	err := l.sweep(ctx)
	if err == nil {
		l.Ready(l.view)
		err = l.wait(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// fold takes the log's word for what is there.
func (l *Loop) fold(ctx context.Context) error {
	view, last, err := l.Log.Fold(ctx)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if l.view == nil {
		// Not the last event's time where it is later: a peer of which there is no event may have gone before that.
		from := l.Watched
		if from.IsZero() {
			from = last
		}
		now := l.Now()
		if from.After(now) {
			from = now
		}
		l.blind = append(l.blind, Blind{From: from, To: now, Why: events.Start})
	}
	l.view = view
	return nil
}

func (l *Loop) wait(ctx context.Context) error {
	sweeps := time.NewTicker(sweepEvery)
	defer sweeps.Stop()
	defer l.agenda.timer.Stop()
	for looks := 0; ; {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sweeps.C:
			err = l.sweep(ctx)
		case <-l.agenda.timer.C:
			err = l.look(ctx, l.agenda.take(time.Now()))
		case <-l.queue.ready:
			err = l.look(ctx, l.queue.take())
		}
		if err != nil {
			return err
		}
		if l.queue.empty() {
			looks = 0
		} else if looks++; looks >= burst {
			pause(ctx, tick)
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

// sweep looks at everything.
func (l *Loop) sweep(ctx context.Context) error {
	l.blind = append(l.blind, l.vigil.look(l.Now())...)
	began, at := time.Now(), l.Now()
	if err := l.look(ctx, nil); err != nil {
		return err
	}
	l.Beat(at)
	l.stats.update(func(s *Stats) { s.Sweeps++; s.LastSweep, s.SweepTook = l.Now(), time.Since(began) })
	err := l.present(ctx)
	if !errors.Is(err, ErrConflict) {
		return err
	}
	if err := l.refold(ctx); err != nil {
		return err
	}
	return l.look(ctx, nil)
}

func (l *Loop) refold(ctx context.Context) error {
	l.stats.update(func(s *Stats) { s.Conflicts++ })
	l.Logger.InfoContext(ctx, "somebody else has written to the log, reading it anew")
	return l.fold(ctx)
}

// look reads the places, all of them if there are none, and publishes what follows. A world that was read before the
// fold it is compared with is not used: after a conflict everything is read anew, after further ones in a row with a
// pause before it.
func (l *Loop) look(ctx context.Context, places []Place) error {
	for round := 0; ; round++ {
		if round > 1 {
			pause(ctx, tick)
		}
		began := time.Now()
		s := l.read(ctx, places)
		if err := ctx.Err(); err != nil {
			return err
		}
		l.blind = append(l.blind, s.Blind...)
		s.Blind = l.blind
		l.agenda.set(time.Now(), s.Again)
		l.forget(s)
		err := l.publish(ctx, Diff(l.view, s.Keeping(l.view)), began)
		if err == nil {
			l.blind = nil
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if err := l.refold(ctx); err != nil {
			return err
		}
		places = nil
	}
}

// read is one snapshot of the places, by all harnesses that have any of them.
func (l *Loop) read(ctx context.Context, places []Place) Snapshot {
	all := Snapshot{Host: l.Host, Gone: make(map[events.ID]Going)}
	for _, h := range l.Harnesses {
		of := within(h.Name(), places)
		if len(places) > 0 && len(of) == 0 {
			continue
		}
		s := h.Read(ctx, of, l.known(h.Name()))
		if len(of) == 0 {
			of = []Place{{Harness: h.Name()}}
		}
		all.Of = append(all.Of, of...)
		all.Peers = append(all.Peers, s.Peers...)
		all.Unread = append(all.Unread, s.Unread...)
		all.Blind = append(all.Blind, s.Blind...)
		all.Again = append(all.Again, s.Again...)
		maps.Copy(all.Gone, s.Gone)
	}
	all.At = l.Now() // not before it was seen: what is seen last may have come to be after the reading began
	return all
}

func within(harness string, places []Place) []Place {
	var of []Place
	for _, p := range places {
		if p.Harness == harness {
			of = append(of, p)
		}
	}
	return of
}

func (l *Loop) known(harness string) []events.Peer {
	var out []events.Peer
	for id, last := range l.view {
		if id.Host == l.Host && id.Harness == harness {
			out = append(out, last.Peer())
		}
	}
	return out
}
