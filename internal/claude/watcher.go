package claude

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
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

// errOpensFiles is why there are no notices where they rest on kqueue: every file of a watched folder would be opened,
// and some of them are the clients' keys.
var errOpensFiles = errors.New("notices would need every file opened, keys too")

var errWatchedAlready = errors.New("another home has this folder")

// watcher tells of changes in the folders of records. What it cannot watch the sweeps find, and they tell it when a
// folder is another one than it watches.
type watcher struct {
	homes []*home // it uses their paths only
	log   *slog.Logger
	open  func() (*fsnotify.Watcher, error)
	retry time.Duration
	anew  chan struct{} // a token: set up everything anew

	mu        sync.Mutex
	arms      map[*home]arm
	overflows int
}

// arm is the watch on one folder.
type arm struct {
	id   folderID // which folder was found; zero where none was
	err  error    // why it is not watched
	lost bool     // notices were lost, and this was not told yet
}

func newWatcher(homes []*home, log *slog.Logger) *watcher {
	return &watcher{
		homes: homes, log: log, open: openNotices, retry: watchRetry,
		anew: make(chan struct{}, 1), arms: map[*home]arm{},
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
	return context.Cause(ctx)
}

// round watches all folders that are there, until they are to be watched anew: a folder is another one, or a watch
// that was refused is due. It wakes for every home once it watches, since what came before that went unseen.
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

// arm makes a watcher and adds every folder that is there to it. It returns nil where none could be made, and whether
// something was refused that may be granted later.
func (w *watcher) arm(ctx context.Context) (fw *fsnotify.Watcher, refused bool) {
	fw, err := w.open()
	switch {
	case errors.Is(err, errOpensFiles):
		fw = nil
	case err != nil:
		w.log.WarnContext(ctx, "folders are not watched, sweeps find what changes", "err", err)
		fw, refused = nil, true
	}
	arms := map[*home]arm{}
	taken := map[folderID]bool{}
	for _, hm := range w.homes {
		a := arm{err: err}
		// Asked first: if the path leads elsewhere when it is added, the next sweep finds another folder than this.
		id, statErr := statFolder(hm.folder)
		switch {
		case statErr != nil:
			arms[hm] = arm{err: statErr}
			continue
		case taken[id]:
			a.err = errWatchedAlready
		case fw != nil:
			a.err = fw.Add(hm.folder)
		}
		taken[id] = true
		if a.id = id; errors.Is(a.err, fs.ErrNotExist) {
			a.id = folderID{}
		} else if fw != nil && a.err != nil && a.err != errWatchedAlready {
			w.log.WarnContext(ctx, "folder is not watched, sweeps find what changes", "folder", hm.folder, "err", a.err)
			refused = true
		}
		arms[hm] = a
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for hm, a := range w.arms {
		if a.lost {
			b := arms[hm]
			b.lost = true
			arms[hm] = b
		}
	}
	w.arms = arms
	return fw, refused
}

// change wakes for the record that changed, and reports whether it was a folder itself that went.
func (w *watcher) change(ev fsnotify.Event, wake func(reconcile.Place)) (folder bool) {
	if ev.Op == fsnotify.Chmod {
		return false
	}
	for _, hm := range w.homes {
		if ev.Name == hm.folder {
			return ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
		}
		if filepath.Dir(ev.Name) != hm.folder {
			continue
		}
		if pid, err := recordName(filepath.Base(ev.Name)); err == nil {
			wake(reconcile.Place{Harness: events.Claude, Home: hm.path, PID: pid})
		}
		return false
	}
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
	for hm, a := range w.arms {
		change(&a)
		w.arms[hm] = a
	}
}

func (w *watcher) wakeAll(wake func(reconcile.Place)) {
	for _, hm := range w.homes {
		wake(reconcile.Place{Harness: events.Claude, Home: hm.path})
	}
}

// want has the folder id of hm watched, which a sweep has just seen, if it is not.
func (w *watcher) want(hm *home, id folderID) {
	w.mu.Lock()
	a, running := w.arms[hm]
	w.mu.Unlock()
	if running && a.id != id {
		select {
		case w.anew <- struct{}{}:
		default: // one not yet taken stands for this too
		}
	}
}

// disarm notes that the folder of hm could not be seen: whichever comes next has to be watched anew, if only because
// an unmounted folder takes its watch along without a word.
func (w *watcher) disarm(hm *home) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, running := w.arms[hm]; running {
		a.id = folderID{}
		w.arms[hm] = a
	}
}

// overflowed tells, once, whether notices about hm were lost.
func (w *watcher) overflowed(hm *home) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.arms[hm]
	if !a.lost {
		return false
	}
	a.lost = false
	w.arms[hm] = a
	return true
}

// state is the watch on hm as a doctor would have it: whether anything is watched at all, and the arm.
func (w *watcher) state(hm *home) (a arm, running bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, running = w.arms[hm]
	return a, running
}
