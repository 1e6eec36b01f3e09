package codex

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"peerbus/events"
	"peerbus/reconcile"
)

// watchRetry is how long after a watch was refused for want of instances, watches or descriptors it is tried again.
// Other programs of the user take from the same limits, and give back.
const watchRetry = 30 * time.Second

var errWatchedAlready = errors.New("another home has this folder")

// watcher tells of changes in folders. What it cannot watch the sweeps find, and they tell it which folders there are.
type watcher struct {
	homes []*home // it uses their paths only
	log   *slog.Logger
	cause func() // called before it wakes for a lock
	open  func() (*fsnotify.Watcher, error)
	retry time.Duration
	anew  chan struct{} // a token: set up everything anew

	mu        sync.Mutex
	wanted    map[string]watched
	arms      map[string]arm
	running   bool
	overflows int
}

// watched is a folder that is worth watching.
type watched struct {
	home  *home
	id    fileID // which folder was found
	locks bool   // it is the folder of the home's locks; else rollouts are in it
}

// arm is the watch on one folder.
type arm struct {
	watched
	err  error // why it is not watched
	lost bool  // notices were lost, and this was not told yet
}

func newWatcher(homes []*home, log *slog.Logger, cause func()) *watcher {
	return &watcher{
		homes: homes, log: log, cause: cause, open: fsnotify.NewWatcher, retry: watchRetry,
		anew: make(chan struct{}, 1), arms: map[string]arm{},
	}
}

// run watches until ctx ends, whose cause it returns.
func (w *watcher) run(ctx context.Context, wake func(reconcile.Place)) error {
	for ctx.Err() == nil {
		w.round(ctx, wake)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.arms)
	w.running = false
	return context.Cause(ctx)
}

// round watches all folders that are there, until they are to be watched anew: others are wanted, a folder is another
// one, or a watch that was refused is due. It wakes for every home once it watches, since what came before that went
// unseen.
//
// Whatever happens to one folder, all are set up anew. It is rare, and a new fsnotify watcher remembers no path that
// leads elsewhere by now.
func (w *watcher) round(ctx context.Context, wake func(reconcile.Place)) {
	select {
	case <-w.anew: // this is the round that was asked for
	default:
	}
	fw, refused := w.arm(ctx)
	var changes chan fsnotify.Event
	var failures chan error
	if fw != nil {
		defer fw.Close() // nothing is lost that the next round would not find
		changes, failures = fw.Events, fw.Errors
	}
	var due <-chan time.Time
	if refused {
		timer := time.NewTimer(w.retry)
		defer timer.Stop()
		due = timer.C
	}
	w.wakeAll(wake)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.anew:
			return
		case <-due:
			return
		case ev, ok := <-changes:
			if !ok { // it gave up
				changes, due = nil, time.After(w.retry)
				w.update(func(a *arm) { a.err = cmp.Or(a.err, fsnotify.ErrClosed) })
			} else if w.change(ev, wake) {
				return
			}
		case err, ok := <-failures: // undrained, they would hold up the changes
			if !ok {
				failures = nil
				continue
			}
			if w.failure(ctx, err, wake) {
				return
			}
		}
	}
}

// arm makes a watcher and adds every folder to it that is there. It returns nil where none could be made, and whether
// something was refused that may be granted later.
func (w *watcher) arm(ctx context.Context) (fw *fsnotify.Watcher, refused bool) {
	fw, err := w.open()
	if err != nil {
		w.log.WarnContext(ctx, "folders are not watched, sweeps find what changes", "err", err)
		fw, refused = nil, true
	}
	arms := map[string]arm{}
	taken := map[fileID]bool{}
	for path, target := range w.targets() {
		// Asked first: if the path leads elsewhere when it is added, the next sweep finds another folder than this.
		id, _, statErr := statFolder(path)
		a := arm{watched: watched{home: target.home, id: id, locks: target.locks}, err: err}
		switch {
		case statErr != nil:
			a.err = statErr
		case taken[id]:
			a.err = errWatchedAlready
		case fw != nil:
			a.err = fw.Add(path)
		}
		taken[id] = true
		if errors.Is(a.err, fs.ErrNotExist) {
			a.id = fileID{}
		} else if fw != nil && a.err != nil && statErr == nil && a.err != errWatchedAlready {
			w.log.WarnContext(ctx, "folder is not watched, sweeps find what changes", "folder", path, "err", a.err)
			refused = true
		}
		arms[path] = a
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, old := range w.arms {
		if a, ok := arms[path]; ok && old.lost {
			a.lost = true
			arms[path] = a
		}
	}
	w.arms, w.running = arms, true
	return fw, refused
}

// targets are the folders to watch: those of the locks, in the order of the homes, since of two that are one folder
// the first counts, and then those of rollouts that are wanted.
func (w *watcher) targets() iter.Seq2[string, watched] {
	w.mu.Lock()
	wanted := w.wanted
	w.mu.Unlock()
	return func(yield func(string, watched) bool) {
		for _, hm := range w.homes {
			if !yield(hm.folder, watched{home: hm, locks: true}) {
				return
			}
		}
		for path, target := range wanted {
			if !target.locks && !yield(path, target) {
				return
			}
		}
	}
}

// change wakes for the thread whose lock or rollout changed, and reports whether it was a folder itself that went.
func (w *watcher) change(ev fsnotify.Event, wake func(reconcile.Place)) (folder bool) {
	if ev.Op == fsnotify.Chmod {
		return false
	}
	w.mu.Lock()
	_, whole := w.arms[ev.Name]
	a, ok := w.arms[filepath.Dir(ev.Name)]
	w.mu.Unlock()
	if whole {
		return ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	}
	if !ok {
		return false
	}
	thread := rolloutThread
	if a.locks {
		thread = lockThread
	}
	id, ok := thread(filepath.Base(ev.Name))
	if !ok {
		return false
	}
	if a.locks {
		w.cause()
	}
	wake(reconcile.Place{Harness: events.Codex, Home: a.home.path, Session: id})
	return false
}

// failure takes note of what the watcher complains about, and reports whether notices were lost: then the one that a
// folder is gone may be among them, and nobody knows what is watched.
func (w *watcher) failure(ctx context.Context, err error, wake func(reconcile.Place)) (lost bool) {
	w.log.WarnContext(ctx, "changes may have gone unseen, everything is read", "err", err)
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.wakeAll(wake)
		return false
	}
	w.update(func(a *arm) { a.lost = a.lost || a.err == nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.overflows++
	return true
}

func (w *watcher) update(change func(*arm)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, a := range w.arms {
		change(&a)
		w.arms[path] = a
	}
}

func (w *watcher) wakeAll(wake func(reconcile.Place)) {
	w.cause()
	for _, hm := range w.homes {
		wake(reconcile.Place{Harness: events.Codex, Home: hm.path})
	}
}

// want has these folders watched, which a sweep has just seen, if one of them is not.
func (w *watcher) want(all map[string]watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = all
	if !w.running {
		return
	}
	for path, target := range all {
		if w.arms[path].id != target.id {
			select {
			case w.anew <- struct{}{}:
			default: // one not yet taken stands for this too
			}
			return
		}
	}
}

// disarm notes that a folder could not be seen: whichever comes next has to be watched anew, if only because an
// unmounted folder takes its watch along without a word.
func (w *watcher) disarm(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := w.arms[path]; ok {
		a.id = fileID{}
		w.arms[path] = a
	}
}

// overflowed tells, once, whether notices about the folder were lost.
func (w *watcher) overflowed(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, ok := w.arms[path]
	if !ok || !a.lost {
		return false
	}
	a.lost = false
	w.arms[path] = a
	return true
}

// state is the watch on a folder as a doctor would have it: whether anything is watched at all, and the arm.
func (w *watcher) state(path string) (a arm, running bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.arms[path], w.running
}
