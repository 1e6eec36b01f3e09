package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/internal/bus"
	"peerbus/internal/screen"
)

// eventTypes are the types that --type takes.
var eventTypes = []string{"PeerAppeared", "StatusChanged", "PeerChanged", "PeerPresent", "PeerGone", "WatchResumed"}

type tailCmd struct {
	Since   time.Duration `help:"First those stored in the last while, as 90s or 24h." placeholder:"1h" xor:"start"`
	From    uint64        `help:"First those stored from this sequence on." placeholder:"SEQ" xor:"start"`
	Type    []string      `help:"Only these types: ${types}." placeholder:"TYPE,…"`
	Session string        `help:"Only those about the session whose id is or begins with this." placeholder:"ID"`
}

func (c *tailCmd) run(ctx context.Context, e env) error {
	for _, t := range c.Type {
		if !slices.Contains(eventTypes, t) {
			return &exitError{exitUsage, fmt.Errorf("no event type %q; there are %s", t, strings.Join(eventTypes, ", "))}
		}
	}
	if c.Since < 0 {
		return &exitError{exitUsage, errors.New("--since is how long ago, as 1h")}
	}
	nc, err := e.observe()
	if err != nil {
		return err
	}
	defer nc.Close()
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(patience, func() { cancel(errNoAnswer) })
	defer silence.Stop()
	t := tailing{tailCmd: c, env: e, nc: nc, since: sinceFlag(c.Since, time.Now())}
	err = follow.Follow(within, nc, follow.Filter{Host: e.Host}, func(change follow.Change) error {
		silence.Stop()
		return t.take(within, change)
	})
	if errors.Is(err, errNoAnswer) {
		return noAnswer(ctx, err)
	}
	return err
}

// tailing is a tail that runs.
type tailing struct {
	*tailCmd
	env
	nc    *nats.Conn
	since time.Time
	begun bool
}

// take prints an event. The stored ones are printed when it is known with which sequence the coming ones begin.
func (t *tailing) take(ctx context.Context, c follow.Change) error {
	switch {
	case c.Lost != nil:
		return t.printLost(*c.Lost)
	case c.Ready && !t.begun:
		t.begun = true
		if t.From > 0 || !t.since.IsZero() {
			return t.stored(ctx, c.Seq)
		}
		return nil
	case c.Ready, c.Snapshot:
		return nil
	}
	return t.print(events.Last{Seq: c.Seq, Event: c.Event})
}

// stored prints what the log holds up to a sequence.
func (t *tailing) stored(ctx context.Context, last uint64) error {
	if err := t.forgotten(ctx); err != nil {
		return err
	}
	for ev, err := range bus.StoredEvents(ctx, t.nc, bus.From{Seq: t.From, Since: t.since}) {
		if err != nil {
			return fmt.Errorf("read stored events: %w", err)
		}
		if ev.Seq > last {
			break
		}
		if err := t.print(events.Last{Seq: ev.Seq, Event: ev.Event}); err != nil {
			return err
		}
	}
	return nil
}

// forgotten says so where the log does not hold what is asked for any more. Asking for all of it, from 1, is no
// question for what is gone.
func (t *tailing) forgotten(ctx context.Context) error {
	if t.From <= 1 {
		return nil
	}
	b, err := bus.Direct(ctx, t.nc, bus.Peers, bus.Query{Seq: t.From, Batch: 1})
	if err != nil {
		return fmt.Errorf("read stored events: %w", err)
	}
	if len(b.Messages) == 0 || b.Messages[0].Seq <= t.From {
		return nil
	}
	return t.printLost(follow.Gap{From: t.From, To: b.Messages[0].Seq - 1, Why: "the log does not hold them any more"})
}

func (t *tailing) print(l events.Last) error {
	if t.Host != "" && l.Event.Head().Host != t.Host {
		return nil // of the host's previous name
	}
	if len(t.Type) > 0 && !slices.Contains(t.Type, events.TypeOf(l.Event)) {
		return nil
	}
	if p, ok := events.PeerOf(l.Event); t.Session != "" && (!ok || !strings.HasPrefix(p.Session, t.Session)) {
		return nil
	}
	return t.printEvent(l)
}

// lostLine says on the standard output that events are missing there, to programs too.
type lostLine struct {
	Lost struct {
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
		Why  string `json:"why"`
	} `json:"lost"`
}

func (t *tailing) printLost(g follow.Gap) error {
	if t.JSON {
		var l lostLine
		l.Lost.From, l.Lost.To, l.Lost.Why = g.From, g.To, g.Why
		return t.printJSON(plain[lostLine]{l})
	}
	text := fmt.Sprintf("events %d to %d are missing here: %s", g.From, g.To, g.Why)
	if g.To == 0 {
		text = "the history starts anew here: " + g.Why
	}
	_, err := fmt.Fprintln(t.out, t.out.Paint(screen.Bad, screen.Clean(text)))
	return err
}
