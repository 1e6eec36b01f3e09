package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// patience is how long a command waits for an answer. A watcher that runs answers in a millisecond, and one that is
// just starting in some tens; who waits longer is better told.
const patience = 5 * time.Second

// observe connects as the observer.
func (e env) observe() (*nats.Conn, error) {
	path, err := e.stateFolder()
	if err != nil {
		return nil, err
	}
	target := bus.Target{
		State: path, URL: e.NATS, Creds: e.Creds, NKey: e.NKey, CA: e.TLSCA,
		Role: state.Observer, Log: e.log,
	}
	nc, err := target.Connect()
	if errors.Is(err, bus.ErrNoWatcher) && e.NATS == "" {
		return nil, &exitError{exitNoAnswer, fmt.Errorf("%w; start one by: watcher run", err)}
	}
	if err != nil {
		return nil, &exitError{exitNoAnswer, err}
	}
	return nc, nil
}

// hostToken is the host asked about, as it stands in subjects: the one given, else that of the bus.
func (e env) hostToken(nc *nats.Conn) string {
	if e.Host != "" {
		return events.Token(e.Host)
	}
	return nc.ConnectedServerName()
}

// errNoAnswer is why a wait of ours ended.
var errNoAnswer = errors.New("the watcher does not answer")

// noAnswer is err as the end of a command that got no answer; one that the user has interrupted stays what it is.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Canceled
	}
	return &exitError{exitNoAnswer, err}
}
