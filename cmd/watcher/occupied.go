package main

import (
	"context"
	"errors"
	"fmt"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/claude"
	"peerbus/internal/codex"
	"peerbus/internal/proc"
	"peerbus/internal/state"
	"peerbus/occupancy"
)

// gatherer looks for who holds a thread in the homes, with the spawn ledger of the state folder.
func gatherer(dir *state.Dir, homes homes, disabled bool) *occupancy.Gatherer {
	looks := map[string]occupancy.Look{events.Claude: claude.Owners(homes.claude), events.Codex: codex.Owners(homes.codex)}
	ledger := func(context.Context) ([]occupancy.Process, error) {
		couriers, err := dir.Couriers(proc.BootID())
		ours := make([]occupancy.Process, len(couriers))
		for i, c := range couriers {
			ours[i] = occupancy.Process{PID: c.PID, Start: c.Start}
		}
		return ours, err
	}
	return occupancy.NewGatherer(looks, ledger, disabled)
}

type occupiedCmd struct {
	Harness string `arg:"" help:"claude or codex."`
	Thread  string `arg:"" help:"The session id, whole and in lower case."`
}

// run prints the verdict. Only one that says attachable ends with 0; whoever gets no answer must not attach either, and
// is told so.
func (c *occupiedCmd) run(ctx context.Context, e env) error {
	nc, err := e.observe()
	if err != nil {
		return doNotAttach(err)
	}
	defer nc.Close()
	asking, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	v, err := bus.AskOccupied(asking, nc, e.hostToken(nc), occupancy.Question{Harness: c.Harness, Thread: c.Thread})
	if err != nil {
		return doNotAttach(noAnswer(ctx, err))
	}
	if err := e.printVerdict(v); err != nil {
		return err
	}
	if !v.Attachable {
		return &exitError{code: exitNo}
	}
	return nil
}

// doNotAttach puts in words what silence means. It leaves the end of an interrupted command what it is.
func doNotAttach(err error) error {
	if exit, ok := errors.AsType[*exitError](err); ok {
		return &exitError{exit.code, fmt.Errorf("do not attach, nobody knows who holds it: %w", exit.err)}
	}
	return err
}

func (e env) printVerdict(v occupancy.Verdict) error {
	if e.JSON {
		return e.printJSON(plain[occupancy.Verdict]{v})
	}
	says := "attachable: nobody who registers holds it"
	if !v.Attachable {
		says = "not attachable: " + string(v.Reason)
	}
	if err := e.printItem(v.Attachable, "thread", says+", as of "+local(v.Time), "on "+v.Host); err != nil {
		return err
	}
	for _, o := range v.Owners {
		says := fmt.Sprintf("pid %d, %s", o.PID, o.Status)
		if o.SelfOwned {
			says += ", which is ours"
		}
		if err := e.printItem(o.SelfOwned, "owner", says, o.Source); err != nil {
			return err
		}
	}
	for _, d := range v.Doubts {
		if err := e.printItem(false, "doubt", string(d.Reason)+": "+d.Why, d.About); err != nil {
			return err
		}
	}
	return nil
}
