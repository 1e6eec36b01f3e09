package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/oklog/run"

	"peerbus/embedded"
	"peerbus/internal/proc"
	"peerbus/internal/state"
)

type runCmd struct {
	ClaudeHome []string `help:"Claude home to watch; may be given often. Default: $$CLAUDE_CONFIG_DIR and ~/.claude, those that exist." placeholder:"DIR" sep:"none"`
	CodexHome  []string `help:"Codex home to watch; may be given often. Default: $$CODEX_HOME and ~/.codex, those that exist." placeholder:"DIR" sep:"none"`
	Listen     string   `help:"Where the bus listens. Default: a free port at first, then the same one." placeholder:"127.0.0.1:PORT"`
	NoAttach   bool     `help:"Answer to whoever asks who holds a thread that attaching is disabled, and look at nothing."`
}

// run claims the state folder and serves until SIGINT, SIGTERM, or SIGHUP of a terminal that is closed.
func (c *runCmd) run(ctx context.Context, e env) error {
	if e.NATS != "" {
		return &exitError{exitUsage, errors.New("run starts a bus of its own; --nats is for the commands that ask")}
	}
	if err := embedded.CheckListen(c.Listen); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := state.CheckHost(e.Host); e.Host != "" && err != nil {
		return &exitError{exitUsage, fmt.Errorf("--host %q: %w", e.Host, err)}
	}
	homes, err := findHomes(c.ClaudeHome, c.CodexHome)
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("find the homes, which --claude-home and --codex-home name: %w", err)}
	}
	dir, err := e.claim()
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.SetHomes(homes.kept()); err != nil {
		return &exitError{exitNoAnswer, err}
	}
	signal.Ignore(syscall.SIGPIPE) // whoever read the output and has gone takes nothing else with him
	p := newPrinter(e)
	defer p.close()
	w := &watch{env: e, dir: dir, homes: homes, listen: c.Listen, noAttach: c.NoAttach, printer: p}
	var g run.Group
	g.Add(run.SignalHandler(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP))
	g.Add(actor(ctx, w.serve))
	err = g.Run()
	if errors.Is(err, run.ErrSignal) || ctx.Err() != nil {
		return nil
	}
	return &exitError{exitNoAnswer, err}
}

// actor makes a function that blocks until its context ends into what run.Group takes.
func actor(ctx context.Context, f func(context.Context) error) (execute func() error, interrupt func(error)) {
	ctx, cancel := context.WithCancelCause(ctx)
	return func() error { return f(ctx) }, func(err error) { cancel(err) }
}

// claim takes the state folder for this process.
func (e env) claim() (*state.Dir, error) {
	path, err := e.stateFolder()
	if err != nil {
		return nil, err
	}
	dir, err := state.Claim(path, state.Claiming{Host: e.Host, Start: proc.SelfID().Start})
	if err != nil {
		return nil, &exitError{exitNoAnswer, err}
	}
	return dir, nil
}

func (e env) stateFolder() (string, error) {
	if e.State != "" {
		return e.State, nil
	}
	path, err := state.Default()
	if err != nil {
		return "", &exitError{exitUsage, fmt.Errorf("find the state folder, which --state names: %w", err)}
	}
	return path, nil
}
