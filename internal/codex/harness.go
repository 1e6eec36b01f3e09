package codex

import (
	"context"
	"iter"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
}

// Harness reads and watches the threads of Codex in one or several homes.
type Harness struct {
	log     *slog.Logger
	now     func() time.Time
	take    func([]lockFile) census
	seesAll func() bool

	// cause: something has happened since the last census that another one is wanted for.
	cause atomic.Bool

	mu       sync.Mutex // guards the homes but for their paths and daemons, and what follows
	homes    []*home
	watching bool                  // Watch was called; before, nobody would hear of a death
	pinned   map[proc.Identity]int // whose death is told, and the round that last needed it
	rounds   int
	counted  time.Time // when the last census was
	censuses int
	blind    error // why the last census failed

	deaths  *proc.Deaths
	watcher *watcher
}

// New returns the harness of those homes, each of which may or may not be there. One that is named twice, or has the
// same folder of locks as another, counts once. It reads nothing and starts nothing.
func New(homes []string, opts Options) *Harness {
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Harness{
		log: log, now: time.Now, take: takeCensus, seesAll: sync.OnceValue(seesAll),
		pinned: map[proc.Identity]int{}, deaths: proc.NewDeaths(log),
	}
	for _, path := range homes {
		path = filepath.Clean(path)
		if !slices.ContainsFunc(h.homes, func(hm *home) bool { return hm.path == path }) {
			h.homes = append(h.homes, newHome(path))
		}
	}
	h.watcher = newWatcher(h.homes, log, func() { h.cause.Store(true) })
	return h
}

// Name is "codex".
func (h *Harness) Name() string { return events.Codex }

// Read implements [reconcile.Harness]. Of a place with a session it looks at that thread alone, of one with a pid at
// those that the process holds, of any other at the whole home. The first reading asks twice who holds what, so that
// it shows all who are there; it takes some 10 ms longer for that.
func (h *Harness) Read(ctx context.Context, of []reconcile.Place, known []events.Peer) reconcile.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rounds++
	r := h.newReading(of, known)
	caused := h.cause.Swap(false)
	for i, hm := range h.homes {
		caused = r.enter(hm, r.targets[i]) || caused
	}
	r.count(ctx, caused)
	for i, hm := range h.homes {
		for _, id := range r.ids(hm, r.targets[i]) {
			r.judge(hm, id)
		}
	}
	r.strays()
	r.rest()
	if len(of) == 0 {
		h.unpin()
		for _, hm := range h.homes {
			hm.days.forget(r.at)
			hm.daemon.keep(hm.pids())
		}
		h.watcher.want(h.folders())
	}
	return r.snap
}

// Watch implements [reconcile.Harness]. It wakes for the thread whose lock or rollout changed or of which the daemon
// has told, for the pid whose process ended, and for a whole home when it began to watch it and when notices were
// lost. It is called once; wake may be called from several goroutines at a time.
func (h *Harness) Watch(ctx context.Context, wake func(reconcile.Place)) error {
	h.mu.Lock()
	h.watching = true
	h.mu.Unlock()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		err := h.deaths.Run(ctx, func(id proc.Identity) {
			h.cause.Store(true)
			wake(reconcile.Place{Harness: events.Codex, PID: id.PID})
		})
		if ctx.Err() == nil {
			h.log.WarnContext(ctx, "deaths of processes are not told any more, sweeps find them", "err", err)
		}
	})
	if runtime.GOOS != "windows" {
		for _, hm := range h.homes {
			wg.Go(func() { hm.daemon.run(ctx, wake) })
		}
	}
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

// pids are the processes that hold threads of the home.
func (h *home) pids() map[int]bool {
	pids := map[int]bool{}
	for _, t := range h.threads {
		for _, o := range t.holders {
			if o.state == sure {
				pids[o.who.PID] = true
			}
		}
	}
	return pids
}

// locks are the threads whose locks are in a folder that can be read, with their homes.
func (h *Harness) locks() iter.Seq2[*home, *thread] {
	return func(yield func(*home, *thread) bool) {
		for _, hm := range h.homes {
			for _, t := range hm.threads {
				if hm.state == there && t.here && !yield(hm, t) {
					return
				}
			}
		}
	}
}

func (h *Harness) files() []lockFile {
	var files []lockFile
	for hm, t := range h.locks() {
		files = append(files, lockFile{id: t.id, folder: hm.folder, at: t.file})
	}
	return files
}
