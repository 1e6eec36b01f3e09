package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/screen"
)

type whyCmd struct {
	Peer string `arg:"" help:"A session id, 8 or more characters of its beginning, a name, or a cc-peer endpoint."`
}

func (c *whyCmd) run(ctx context.Context, e env) error {
	nc, err := e.observe()
	if err != nil {
		return err
	}
	defer nc.Close()
	ask, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	reply, err := bus.AskWhy(ask, nc, e.hostToken(nc), bus.WhyRequest{Peer: c.Peer})
	if refused, ok := errors.AsType[*bus.ServiceError](err); ok && refused.Code < http.StatusInternalServerError {
		return errors.New(refused.Text)
	}
	if err != nil {
		return noAnswer(ctx, fmt.Errorf("ask why: %w", err))
	}
	if err := e.printWhy(reply); err != nil {
		return err
	}
	if reply.Verdict != "alive" {
		return &exitError{code: exitNo}
	}
	return nil
}

func (e env) printWhy(r bus.WhyReply) error {
	if e.JSON {
		return e.printJSON(plain[bus.WhyReply]{r})
	}
	p := r.Peer
	fmt.Fprintf(e.out, "%s is %s: %s, pid %d, session %s\n\n", e.out.Paint(screen.Strong, screen.Clean(label(p))),
		screen.Clean(r.Verdict), screen.Clean(doing(p)), p.PID, screen.Clean(p.Session))
	for _, ev := range r.Evidence {
		if err := e.printItem(ev.OK, ev.Source, ev.Says, ev.About); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.out)
	for _, stored := range r.Events {
		ev, err := events.Decode(stored.Event)
		if err != nil {
			continue // of a type that this command is too old for
		}
		if err := e.printEvent(events.Last{Seq: stored.Seq, Event: ev}); err != nil {
			return err
		}
	}
	return nil
}
