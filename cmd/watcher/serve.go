package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
	"peerbus/reconcile"
)

// restartEvery is how long the bus is down between two tries after it could not store. A disk that is full stays so
// for seconds at the least; a try costs some milliseconds.
const restartEvery = time.Second

// watch is the daemon: a server, and a loop that publishes on it.
type watch struct {
	env
	dir      *state.Dir
	homes    homes
	listen   string
	noAttach bool
	started  time.Time
	printer  *printer
	printed  bool          // what was there at the start
	early    []events.Last // what happened before that was printed
}

// serve runs one life of the server after the other until ctx ends. The first life must come to watch; a later one that
// fails is followed by another, since what stops a running bus, a full disk above all, passes.
func (w *watch) serve(ctx context.Context) error {
	w.started = time.Now()
	watched := false
	for {
		up, err := w.live(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if watched = watched || up; !watched {
			return err
		}
		if up {
			w.log.ErrorContext(ctx, "the watch has stopped, starting it again each second", "err", err)
		} else { // a full disk stops whatever is written next, in words of its own
			w.log.InfoContext(ctx, "the watch cannot be started yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(restartEvery):
		}
	}
}

// live starts the server, and watches until ctx ends or the server cannot store. It tells whether it came to watch.
func (w *watch) live(ctx context.Context) (up bool, err error) {
	srv, err := embedded.Start(ctx, embedded.Options{State: w.dir, Listen: w.listen, Log: w.log})
	if err != nil {
		return false, err
	}
	defer srv.Shutdown()
	log, err := w.openLog(ctx, srv)
	if err != nil {
		return false, err
	}
	harnesses := w.homes.harnesses(w.log, (&couriers{dir: w.dir, log: w.log}).ours)
	loop := reconcile.New(w.dir.Host(), log, w.log, harnesses...)
	loop.Watched = w.dir.LastWatched()
	loop.Beat = w.beat
	loop.Older = olderHalf(log)
	loop.Each = w.each
	loop.Ready = func(view events.View) { up = true; w.ready(view) }

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel(errors.New("this life of the bus is over"))
	parts.Go(func() {
		select {
		case err := <-srv.Failed():
			cancel(err)
		case <-ctx.Done():
		}
	})
	parts.Go(func() {
		if err := w.answer(ctx, srv, log, loop, harnesses); ctx.Err() == nil {
			cancel(fmt.Errorf("answer questions: %w", err))
		}
	})
	err = loop.Run(ctx) // which sets up
	return up, err
}

// openLog makes the streams, after saying under the host's previous name, where it has a new one, that it goes on.
func (w *watch) openLog(ctx context.Context, srv *embedded.Server) (*bus.Log, error) {
	nc, err := srv.Connect(embedded.Watcher)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use the streams: %w", err)
	}
	if err := w.leave(ctx, js); err != nil {
		return nil, err
	}
	epoch, err := bus.EnsureStreams(ctx, js, w.dir.Host())
	if err != nil {
		return nil, err
	}
	return bus.NewLog(js, w.dir.Host(), epoch, w.log), nil
}

// leave ends every peer under the host's previous name.
func (w *watch) leave(ctx context.Context, js jetstream.JetStream) error {
	old := w.dir.PreviousHost()
	if old == "" {
		return nil
	}
	epoch, err := bus.EnsureStreams(ctx, js, old)
	if err != nil {
		return err
	}
	log := bus.NewLog(js, old, epoch, w.log)
	view, _, err := log.Fold(ctx)
	if err != nil {
		return fmt.Errorf("read the log of host %s: %w", old, err)
	}
	var gone []events.Event
	for _, id := range view.IDs() {
		meta := events.Meta{Time: events.At(time.Now()), Host: old}
		gone = append(gone, events.PeerGone{Meta: meta, Peer: view[id].Peer(), Reason: events.RenamedHost})
	}
	if _, err := log.Publish(ctx, gone); err != nil {
		return fmt.Errorf("end the peers of host %s: %w", old, err)
	}
	return w.dir.SettleHost()
}

// answer serves the micro service until ctx ends.
func (w *watch) answer(ctx context.Context, srv *embedded.Server, log *bus.Log, loop *reconcile.Loop, harnesses harnesses) error {
	nc, err := srv.Connect(embedded.Responder)
	if err != nil {
		return err
	}
	threads := gatherer(w.dir, w.homes, w.noAttach)
	defer threads.Close()
	service := bus.Service{
		Occupied: threads.Ask,
		Log:      log, Version: serviceVersion, Logger: w.log,
		Why: log.Why(harnesses.explain),
		Status: func(context.Context) bus.StatusReply {
			return bus.StatusReply{
				Version: version(), PID: os.Getpid(), Started: events.At(w.started),
				Facts: append(loopFacts(loop.Stats(), time.Now()), harnesses.facts()...),
			}
		},
	}
	return service.Serve(ctx, nc)
}

// beat keeps until when everything was watched. Where that cannot be written, the next start says a longer blindness.
func (w *watch) beat(at time.Time) {
	if err := w.dir.Beat(at); err != nil {
		w.log.Debug("not noted that the watch goes on", "err", err)
	}
}

// olderHalf tells the sequence below which events lie in the older half of what the log retains, once it is half full.
func olderHalf(log *bus.Log) func(context.Context) (uint64, error) {
	return func(ctx context.Context) (uint64, error) {
		r, err := log.Retention(ctx)
		if err != nil || r.Bytes < r.MaxBytes/2 {
			return 0, err
		}
		return r.First + (r.Last-r.First)/2, nil
	}
}

// each prints what happens. What is found at the start waits until what is there is printed, of which those that
// have appeared are a part.
func (w *watch) each(last events.Last) {
	if w.printed {
		w.printer.print(func(e env) error { return e.printEvent(last) })
	} else if _, appeared := last.Event.(events.PeerAppeared); !appeared {
		w.early = append(w.early, last)
	}
}

func (w *watch) ready(view events.View) {
	if w.printed {
		return
	}
	w.printed = true
	peers := lines(view)
	w.printer.print(func(e env) error { return e.printPeers(peers) })
	for _, last := range w.early {
		w.printer.print(func(e env) error { return e.printEvent(last) })
	}
	w.early = nil
}

func lines(view events.View) []peerLine {
	out := make([]peerLine, 0, len(view))
	for _, id := range view.IDs() {
		out = append(out, peerLine{id.Host, view[id].Seq, view[id].Peer()})
	}
	return out
}
