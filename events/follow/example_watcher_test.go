package follow_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// exampleWatcher is what a watcher is to the example: a bus with one peer on it, which then does something.
type exampleWatcher struct {
	url, keyFile, caFile string
	stop                 func()
	log                  *bus.Log
}

func startExample() *exampleWatcher {
	folder := must(os.MkdirTemp("", "follow"))
	dir := must(state.Claim(filepath.Join(folder, "state"), state.Claiming{Host: "laptop"}))
	logger := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	srv := must(embedded.Start(ctx, embedded.Options{State: dir, Log: logger}))
	js := must(jetstream.New(must(srv.Connect(embedded.Watcher))))
	w := &exampleWatcher{url: srv.URL(), keyFile: dir.KeyPath(state.Observer), caFile: srv.CA()}
	w.log = bus.NewLog(js, "laptop", must(bus.EnsureStreams(ctx, js, "laptop")), logger)
	if _, _, err := w.log.Fold(ctx); err != nil {
		panic(err)
	}
	must(w.log.Publish(ctx, []events.Event{events.PeerAppeared{Peer: api(events.Idle)}}))
	responder := must(srv.Connect(embedded.Responder))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = bus.Service{Log: w.log, Version: "1.0.0", Logger: logger}.Serve(ctx, responder) // it ends with ctx
	}()
	w.stop = func() {
		cancel()
		<-served
		srv.Shutdown()
		dir.Close()
		os.RemoveAll(folder)
	}
	return w
}

// sees publishes what the peer does next.
func (w *exampleWatcher) sees() {
	was := events.Was{Fields: []string{"status"}, Old: events.Peer{Status: events.Idle}}
	must(w.log.Publish(context.Background(), []events.Event{
		events.StatusChanged{Peer: api(events.Busy), Was: was},
		events.PeerGone{Peer: api(events.Busy), Reason: events.Exited},
	}))
}

func api(s events.Status) events.Peer {
	return events.Peer{Harness: events.Claude, Session: "25c49259-5cd0-4744-a158-5d764d50082a", PID: 6540, Start: "31702", Name: "api", Status: s}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
