package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"peerbus/internal/bus"
	"peerbus/internal/state"
	"peerbus/reconcile"
)

type doctorCmd struct {
	ClaudeHome []string `help:"Claude home to look at where no watcher runs. Default: as for run." placeholder:"DIR" sep:"none"`
	CodexHome  []string `help:"Codex home to look at where no watcher runs. Default: as for run." placeholder:"DIR" sep:"none"`
}

// run prints what the running watcher says of itself, or what can be told from the files alone where none runs.
func (c *doctorCmd) run(ctx context.Context, e env) error {
	facts := []reconcile.Fact{{Check: "version", OK: true, Fact: fmt.Sprintf("watcher %s, %s/%s", version(), runtime.GOOS, runtime.GOARCH)}}
	running, err := e.askStatus(ctx)
	switch {
	case err == nil && e.NATS != "":
		facts = append(facts, running...)
	case err == nil:
		folder, fail := e.stateFact()
		if fail != nil {
			return fail
		}
		facts = append(append(facts, folder), running...)
	case ctx.Err() != nil:
		return context.Canceled
	default:
		alone, fail := c.alone(ctx, e, err)
		if fail != nil {
			return fail
		}
		facts = append(facts, alone...)
	}
	wrong := false
	for _, f := range facts {
		wrong = wrong || !f.OK
	}
	if err := e.printFacts(facts); err != nil {
		return err
	}
	if wrong {
		return &exitError{code: exitNo}
	}
	return nil
}

// askStatus is what the running watcher says.
func (e env) askStatus(ctx context.Context) ([]reconcile.Fact, error) {
	nc, err := e.observe()
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	s, err := bus.AskStatus(ctx, nc, e.hostToken(nc))
	if err != nil {
		return nil, fmt.Errorf("ask the watcher: %w", err)
	}
	return append([]reconcile.Fact{
		{Check: "watcher", OK: true, Fact: fmt.Sprintf("runs as pid %d for host %s since %s, version %s", s.PID, s.Host, local(s.Started), s.Version)},
		{Check: "bus", OK: true, Fact: fmt.Sprintf("%s, epoch %s, event %d, %d live peers", nc.ConnectedUrlRedacted(), s.Epoch, s.Seq, s.Peers)},
	}, s.Facts...), nil
}

// alone looks at the files.
func (c *doctorCmd) alone(ctx context.Context, e env, why error) ([]reconcile.Fact, error) {
	if exit, ok := errors.AsType[*exitError](why); ok && exit.err != nil {
		why = exit.err
	}
	facts := []reconcile.Fact{{Check: "watcher", Fact: why.Error(), Hint: "what follows is from the files alone"}}
	folder, err := e.stateFact()
	if err != nil {
		return nil, err
	}
	facts = append(facts, folder)
	homes, err := c.homes(e)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	harnesses := homes.harnesses(e.log, nil)
	peers := 0
	for _, h := range harnesses {
		peers += len(h.Read(ctx, nil, nil).Peers)
	}
	facts = append(facts, reconcile.Fact{Check: "peers", OK: true, Fact: fmt.Sprintf("%d live, by their records and locks", peers)})
	return append(facts, harnesses.facts()...), nil
}

// homes are those asked for, else those that were watched last, else the usual ones.
func (c *doctorCmd) homes(e env) (homes, error) {
	asked := homes{claude: c.ClaudeHome, codex: c.CodexHome}
	if len(asked.claude)+len(asked.codex) == 0 {
		path, err := e.stateFolder()
		if err != nil {
			return homes{}, err
		}
		if dir, err := state.Open(path); err == nil {
			defer dir.Close()
			kept, err := dir.Homes()
			if err != nil {
				return homes{}, err
			}
			asked = homesKept(kept)
		}
	}
	return findHomes(asked.claude, asked.codex)
}

// stateFact says which state folder it is about, and how that is.
func (e env) stateFact() (reconcile.Fact, error) {
	path, err := e.stateFolder()
	if err != nil {
		return reconcile.Fact{}, err
	}
	dir, err := state.Open(path)
	switch {
	case errors.Is(err, state.ErrNone):
		return reconcile.Fact{Check: "state", OK: true, Fact: "not there yet: " + path}, nil
	case err != nil:
		return reconcile.Fact{Check: "state", Fact: err.Error()}, nil
	}
	defer dir.Close()
	text := fmt.Sprintf("%s, host %s", dir.Path(), dir.Host())
	if last := dir.LastWatched(); !last.IsZero() {
		text += ", watched last " + last.Local().Format(time.DateTime)
	}
	fact := reconcile.Fact{Check: "state", OK: true, Fact: text}
	if free, err := dir.Free(); err == nil && free < lowSpace {
		fact.OK, fact.Fact = false, fmt.Sprintf("%s; the disk is full: %d bytes are left", text, free)
		fact.Hint = "make space; a watcher that runs goes on by itself then"
	}
	return fact, nil
}

// lowSpace is how many bytes left are as good as none: less than the index of a large log takes, which is written
// whole.
const lowSpace = 1 << 20

func (e env) printFacts(facts []reconcile.Fact) error {
	if e.JSON {
		for _, f := range facts {
			if err := e.printJSON(plain[reconcile.Fact]{f}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range facts {
		if err := e.printItem(f.OK, f.Check, f.Fact, f.Hint); err != nil {
			return err
		}
	}
	return nil
}
