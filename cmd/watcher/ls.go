package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/events/follow"
)

type lsCmd struct {
	Harness string `help:"Only those of this harness: claude or codex." enum:",claude,codex" default:""`
	Status  string `help:"Only those with this status: busy, idle, waiting or unknown." enum:",busy,idle,waiting,unknown" default:""`
	Kind    string `help:"Only those of this kind."`
	Cwd     string `help:"Only those in this folder or below it." placeholder:"DIR"`
}

func (c *lsCmd) run(ctx context.Context, e env) error {
	if c.Cwd != "" {
		var err error
		if c.Cwd, err = filepath.Abs(c.Cwd); err != nil {
			return fmt.Errorf("find %s: %w", c.Cwd, err)
		}
	}
	nc, err := e.observe()
	if err != nil {
		return err
	}
	defer nc.Close()
	view, err := snapshot(ctx, nc, e.Host)
	if err != nil {
		return noAnswer(ctx, err)
	}
	var out []peerLine
	for _, l := range lines(view) {
		if c.wants(l.Peer) {
			out = append(out, l)
		}
	}
	return e.printPeers(out)
}

func (c *lsCmd) wants(p events.Peer) bool {
	return (c.Harness == "" || c.Harness == p.Harness) &&
		(c.Status == "" || c.Status == string(p.Status)) &&
		(c.Kind == "" || c.Kind == p.Kind) &&
		(c.Cwd == "" || c.Cwd == p.Cwd || strings.HasPrefix(p.Cwd, strings.TrimSuffix(c.Cwd, "/")+"/"))
}

// snapshot is what is there now.
func snapshot(ctx context.Context, nc *nats.Conn, host string) (events.View, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	view := make(events.View)
	complete := errors.New("the snapshot is complete")
	err := follow.Follow(ctx, nc, follow.Filter{Host: host}, func(c follow.Change) error {
		switch {
		case c.Ready:
			return complete
		case c.Lost != nil:
			clear(view)
		default:
			view.Apply(c.Seq, c.Event)
		}
		return nil
	})
	if errors.Is(err, complete) {
		return view, nil
	}
	return nil, err
}

// sinceFlag is an instant given as a time ago.
func sinceFlag(ago time.Duration, now time.Time) time.Time {
	if ago == 0 {
		return time.Time{}
	}
	return now.Add(-ago)
}
