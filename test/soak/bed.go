package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// bed is a bus in this process.
type bed struct {
	dir *state.Dir
	srv *embedded.Server
}

func startBed(ctx context.Context, path string) (*bed, error) {
	dir, err := state.Claim(path, state.Claiming{})
	if err != nil {
		return nil, err
	}
	srv, err := embedded.Start(ctx, embedded.Options{State: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &bed{dir, srv}, nil
}

func (b *bed) close() {
	b.srv.Shutdown()
	b.dir.Close()
}

// log is the host's log, over a connection of its own.
func (b *bed) log(ctx context.Context) (*bus.Log, error) {
	nc, err := b.srv.Connect(embedded.Watcher)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use the streams: %w", err)
	}
	epoch, err := bus.EnsureStreams(ctx, js, b.dir.Host())
	if err != nil {
		return nil, err
	}
	return bus.NewLog(js, b.dir.Host(), epoch, slog.New(slog.DiscardHandler)), nil
}
