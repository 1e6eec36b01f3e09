package claude

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

var _ reconcile.Harness = (*Harness)(nil)

// Options are what a [Harness] can be told beside its homes.
type Options struct {
	// Log is told what goes wrong with watching. Nil discards it.
	Log *slog.Logger
	// Ours tells whether a process is a courier of ours, which registers as any session does and is no peer. It may
	// be called from any goroutine. Nil means that none is.
	Ours func(proc.Identity) bool
}

// Harness reads and watches the sessions of Claude Code in one or several homes.
type Harness struct {
	log    *slog.Logger
	ours   func(proc.Identity) bool
	domain string // our own pid domain, "" where it is not known
	now    func() time.Time

	mu       sync.Mutex // guards the homes but for their paths, and what follows
	homes    []*home
	watching bool                  // Watch was called; before, nobody would hear of a death
	pinned   map[proc.Identity]int // whose death is told, and the round that last needed it
	rounds   int
	waiting  map[string]reconcile.Place // by job: who was handed to it and waits for its record

	deaths  *proc.Deaths
	watcher *watcher
}

// New returns the harness of those homes, each of which may or may not be there. One that is named twice, or is the
// same folder as another, counts once. It reads nothing and starts nothing.
func New(homes []string, opts Options) *Harness {
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Harness{
		log: log, ours: opts.Ours, domain: proc.Domain(), now: time.Now,
		pinned: map[proc.Identity]int{}, waiting: map[string]reconcile.Place{},
		deaths: proc.NewDeaths(log),
	}
	if h.ours == nil {
		h.ours = func(proc.Identity) bool { return false }
	}
	for _, path := range homes {
		path = filepath.Clean(path)
		if !slices.ContainsFunc(h.homes, func(hm *home) bool { return hm.path == path }) {
			h.homes = append(h.homes, newHome(path))
		}
	}
	h.watcher = newWatcher(h.homes, log)
	return h
}

// Name is "claude".
func (h *Harness) Name() string { return events.Claude }

// Read implements [reconcile.Harness]. Of a place with a pid it looks at that record and that process alone, of any
// other at the whole home.
func (h *Harness) Read(_ context.Context, of []reconcile.Place, known []events.Peer) reconcile.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rounds++
	r := h.newReading(of, known)
	for i, hm := range h.homes {
		r.enter(hm, r.targets[i])
	}
	for i, hm := range h.homes {
		for _, pid := range r.pids(hm, r.targets[i]) {
			r.judge(hm, pid)
		}
	}
	r.strays()
	if len(of) == 0 {
		h.unpin()
	}
	return r.snap
}

// Watch implements [reconcile.Harness]. It wakes for the record whose file changed, for the pid whose process ended,
// and for a whole home when it began to watch it and when notices were lost. It is called once; wake may be called
// from two goroutines at a time.
func (h *Harness) Watch(ctx context.Context, wake func(reconcile.Place)) error {
	h.mu.Lock()
	h.watching = true
	h.mu.Unlock()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		err := h.deaths.Run(ctx, func(id proc.Identity) {
			wake(reconcile.Place{Harness: events.Claude, PID: id.PID})
		})
		if ctx.Err() == nil {
			h.log.WarnContext(ctx, "deaths of processes are not told any more, sweeps find them", "err", err)
		}
	})
	return h.watcher.run(ctx, wake)
}

// pin has the death of id, which was just seen alive, told from now on, and returns what id is by now.
func (h *Harness) pin(id proc.Identity) proc.Verdict {
	if !h.watching {
		return proc.Alive
	}
	v := proc.Alive
	if _, told := h.pinned[id]; !told {
		v = h.deaths.Watch(id)
	}
	if v == proc.Alive || v == proc.Unknown {
		h.pinned[id] = h.rounds
	}
	return v
}

// unpin forgets the processes that this round, which looked at everything, had no need of.
func (h *Harness) unpin() {
	for id, round := range h.pinned {
		if round != h.rounds {
			h.deaths.Forget(id)
			delete(h.pinned, id)
		}
	}
}

// home is the home at path, or the one that has its folder, or nil.
func (h *Harness) home(path string) *home {
	for _, hm := range h.homes {
		if hm.path != path {
			continue
		}
		if hm.state == doubled {
			return hm.twin
		}
		return hm
	}
	return nil
}
