package main

import (
	"context"
	"fmt"
	"log/slog"

	"peerbus/internal/screen"
)

// Globals are the flags of every command.
type Globals struct {
	State    string `help:"Folder of the bus and its keys." env:"PEERBUS_STATE" placeholder:"DIR"`
	NATS     string `name:"nats" help:"A bus of one's own instead of the watcher's." env:"PEERBUS_NATS" placeholder:"URL"`
	Creds    string `help:"Credentials file for that bus." placeholder:"FILE"`
	NKey     string `name:"nkey" help:"Key file for that bus." placeholder:"FILE"`
	TLSCA    string `name:"tlsca" help:"Certificate authority of that bus." placeholder:"FILE"`
	Host     string `help:"The host asked about; for run, this host's own name." placeholder:"NAME"`
	JSON     bool   `name:"json" help:"Print one JSON object a line."`
	LogLevel string `help:"What is logged: debug, info, warn or error." default:"warn" enum:"debug,info,warn,error"`
}

type cli struct {
	Globals

	Run    runCmd    `cmd:"" default:"withargs" help:"Start the bus and watch; print what happens."`
	Ls     lsCmd     `cmd:"" help:"Print the peers that are live now."`
	Tail   tailCmd   `cmd:"" help:"Print events: from now on, or stored ones first."`
	Why    whyCmd    `cmd:"" help:"Print why a peer is taken to be there."`
	Doctor doctorCmd `cmd:"" help:"Print what can be seen and what cannot, and why."`

	Occupied    occupiedCmd    `cmd:"" help:"Print whether somebody holds a thread."`
	Policy      policyCmd      `cmd:"" help:"Print or set what the user's Claude settings say of mail from other sessions."`
	NatsContext natsContextCmd `cmd:"" help:"Write contexts for the nats program."`
}

// env is what every command works with.
type env struct {
	Globals
	out *screen.Screen
	log *slog.Logger
}

func (c *cli) dispatch(ctx context.Context, e env, command string) error {
	switch command {
	case "run":
		return c.Run.run(ctx, e)
	case "ls":
		return c.Ls.run(ctx, e)
	case "tail":
		return c.Tail.run(ctx, e)
	case "why":
		return c.Why.run(ctx, e)
	case "doctor":
		return c.Doctor.run(ctx, e)
	case "occupied":
		return c.Occupied.run(ctx, e)
	case "policy":
		return c.Policy.run(ctx, e)
	case "nats-context":
		return c.NatsContext.run(ctx, e)
	}
	return fmt.Errorf("no command %q", command)
}
