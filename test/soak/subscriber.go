package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"peerbus/events"
	"peerbus/events/follow"
)

// subscriber is a program that connects, asks what is there, follows for a while, and goes.
type subscriber struct {
	role          string
	begins, stays time.Duration

	ready bool
	took  time.Duration             // to be told all that is there
	seq   uint64                    // at which that was so
	view  map[events.ID]events.Peer // what was there
	tail  []events.Last             // what happened then
	wrong []string                  // what should not have happened
}

// Why a subscriber goes.
var (
	errStayed = errors.New("it has stayed as long as it wanted")
	errLate   = fmt.Errorf("it was not told what is there within %v", readyIn)
)

// run connects, and returns after the stay.
func (s *subscriber) run(ctx context.Context, stateDir string) error {
	begun := time.Now()
	nc, err := connectAs(s.role, stateDir)
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	leave := time.AfterFunc(readyIn, func() { cancel(errLate) })
	defer func() { leave.Stop() }()
	s.view = make(map[events.ID]events.Peer)
	err = follow.Follow(ctx, nc, follow.Filter{}, func(c follow.Change) error {
		if c.Ready && !s.ready && leave.Stop() {
			s.took = time.Since(begun)
			leave = time.AfterFunc(s.stays, func() { cancel(errStayed) })
		}
		s.take(c)
		return nil
	})
	if errors.Is(err, errStayed) {
		return nil
	}
	return err
}

func (s *subscriber) take(c follow.Change) {
	switch {
	case c.Lost != nil:
		s.wrong = append(s.wrong, fmt.Sprintf("told of a loss: %+v", *c.Lost))
	case c.Ready && s.ready:
		s.wrong = append(s.wrong, "told twice what is there")
	case c.Ready:
		s.ready, s.seq = true, c.Seq
	case c.Snapshot:
		p, _ := events.PeerOf(c.Event)
		if _, twice := s.view[p.ID("")]; twice || s.ready {
			s.wrong = append(s.wrong, "told twice of "+who(p))
		}
		s.view[p.ID("")] = p
	default:
		s.tail = append(s.tail, events.Last{Seq: c.Seq, Event: c.Event})
	}
}

// compare holds what was told against the log behind what was there at first: the same events, none missing, none
// twice.
func (s *subscriber) compare(r *report, log []events.Last) {
	for i, l := range s.tail {
		if i >= len(log) {
			r.failf("%s was told seq %d, which the log does not have", s.role, l.Seq)
			return
		}
		if want := log[i]; l.Seq != want.Seq || l.Event.Head().ID != want.Event.Head().ID {
			r.failf("%s was told %s as seq %d where the log goes on with %s as seq %d",
				s.role, l.Event.Head().ID, l.Seq, want.Event.Head().ID, want.Seq)
			return
		}
	}
}
