package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"peerbus/events"
	"peerbus/reconcile"
)

// wakes collects the places that were woken for.
type wakes struct {
	mu     sync.Mutex
	places []reconcile.Place
}

func (w *wakes) add(pl reconcile.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = append(w.places, pl)
}

func (w *wakes) have(pl reconcile.Place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.places, pl)
}

func (w *wakes) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.places)
}

func (w *wakes) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = nil
}

// watch watches until the test ends, and returns when everything is set up.
func (w *world) watch(wake func(reconcile.Place)) {
	w.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := errors.New("the test ended")
	done := make(chan error)
	first := make(chan struct{})
	once := sync.OnceFunc(func() { close(first) })
	go func() {
		done <- w.h.Watch(ctx, func(pl reconcile.Place) {
			wake(pl)
			once()
		})
	}()
	w.Cleanup(func() {
		cancel(ended)
		if err := <-done; !errors.Is(err, ended) {
			w.Errorf("Watch returned %v, want the cause of its end", err)
		}
	})
	select {
	case <-first:
	case <-time.After(10 * time.Second):
		w.Fatal("nobody was woken at the start")
	}
}

func (w *world) home() reconcile.Place { return reconcile.Place{Harness: events.Claude, Home: w.dir} }

func TestWatchWakesForARecordAndForADeath(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	var ws wakes
	w.watch(ws.add)
	if !ws.have(w.home()) {
		t.Error("not woken for the home, of which nobody knows what happened before")
	}
	w.must(os.WriteFile(filepath.Join(w.folder(), "12.0123.key"), []byte("secret"), 0o600))
	w.write(p.idle("s"))
	eventually(t, "woken for the record", func() bool { return ws.have(w.at(p.pid)) })
	w.read()
	w.says("ok claude watch", "is watched by")
	w.says("ok claude deaths", "the ends of 1 processes")

	ws.forget()
	w.must(os.Remove(w.file(p.pid)))
	eventually(t, "woken for the removal", func() bool { return ws.have(w.at(p.pid)) })

	ws.forget()
	p.end()
	dead := reconcile.Place{Harness: events.Claude, PID: p.pid}
	eventually(t, "woken for the death", func() bool { return ws.have(dead) })
	w.read(dead)
	w.went(left("s", p, events.Exited))
	if n := ws.count(); n != 1 {
		t.Errorf("woken %d times by one death", n)
	}
}

func TestADeathIsToldOfWhoeverIsKnown(t *testing.T) {
	w, recorded, bare := newWorld(t), spawn(t), spawn(t)
	w.write(recorded.idle("recorded"))
	w.write(bare.idle("bare"))
	w.read()
	w.must(os.Remove(w.file(bare.pid)))
	w.restart() // as if they were known from the log only
	var ws wakes
	w.watch(ws.add)
	w.read()
	recorded.end()
	bare.end()
	for _, p := range []process{recorded, bare} {
		eventually(t, "woken for the death", func() bool {
			return ws.have(reconcile.Place{Harness: events.Claude, PID: p.pid})
		})
	}
	w.read()
	w.holds()
	w.read()
	if watched, _ := w.h.deaths.Counts(); watched > 0 {
		t.Errorf("%d processes are still watched", watched)
	}
}

func TestFolderIsWatchedAnewWhenItIsAnother(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	var ws wakes
	w.watch(ws.add)
	other := func(name string) string {
		path := filepath.Join(w.dir, name)
		w.must(os.MkdirAll(path, 0o700))
		return path
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"removed", func() { w.must(os.RemoveAll(w.folder())) }},
		{"recreated", w.mkdir},
		{"removed and recreated at once", func() { w.must(os.RemoveAll(w.folder())); w.mkdir() }},
		{"renamed away", func() { w.must(os.Rename(w.folder(), w.folder()+".old")) }},
		{"renamed back", func() { w.must(os.Rename(w.folder()+".old", w.folder())) }},
		{"replaced at once", func() { w.must(os.Rename(w.folder(), w.folder()+".old")); w.mkdir() }},
		{"replaced by a symlink", func() {
			w.must(os.RemoveAll(w.folder()))
			w.must(os.Symlink(other("one"), w.folder()))
		}},
		{"behind a re-pointed symlink", func() {
			w.must(os.Remove(w.folder()))
			w.must(os.Symlink(other("two"), w.folder()))
		}},
	}
	w.read()
	for _, step := range steps {
		ws.forget()
		step.do()
		if _, err := os.Stat(w.folder()); err != nil {
			eventually(t, step.name+": woken for the home", func() bool { return ws.have(w.home()) })
			continue
		}
		eventually(t, step.name+": watched", func() bool {
			w.read() // as comes each second
			return ws.have(w.home()) && w.watched()
		})
		ws.forget()
		w.write(p.idle("s"))
		eventually(t, step.name+": woken for a record", func() bool {
			return ws.have(w.at(p.pid)) || ws.have(w.home()) // it may just be watched anew once more
		})
	}
}

// A folder may come back as the same one and without its watch, as after it was unmounted and mounted.
func TestFolderThatWasAwayIsWatchedAnew(t *testing.T) {
	w := newWorld(t)
	var ws wakes
	w.watch(ws.add)
	w.read()
	w.must(os.Rename(w.dir, w.dir+".old")) // of which the folder in it hears nothing
	w.read()
	w.must(os.Rename(w.dir+".old", w.dir))
	ws.forget()
	w.read()
	eventually(t, "woken for the home", func() bool { return ws.have(w.home()) })
}

func TestInotifyNotAvailable(t *testing.T) {
	refusal := os.NewSyscallError("inotify_init1", syscall.EMFILE)
	for name, refuse := range map[string]func() (*fsnotify.Watcher, error){
		"no watcher": func() (*fsnotify.Watcher, error) { return nil, refusal },
		"no watch": func() (*fsnotify.Watcher, error) {
			fw, err := fsnotify.NewWatcher()
			if err == nil {
				err = fw.Close() // which refuses every Add
			}
			return fw, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(t), spawn(t)
			refused := make(chan struct{}, 100)
			grant := make(chan struct{})
			w.h.watcher.retry = 5 * time.Millisecond
			w.h.watcher.open = func() (*fsnotify.Watcher, error) {
				select {
				case <-grant:
					return fsnotify.NewWatcher()
				default:
					refused <- struct{}{}
					return refuse()
				}
			}
			var ws wakes
			w.watch(ws.add)
			<-refused
			<-refused // tried again
			w.write(p.idle("s"))
			w.read()
			w.holds("s")
			w.says("bad claude watch", "is swept only: ", "tried again each 5ms")
			p.end()
			eventually(t, "woken for the death all the same", func() bool {
				return ws.have(reconcile.Place{Harness: events.Claude, PID: p.pid})
			})
			close(grant)
			eventually(t, "watched", w.watched)
			w.write(p.idle("t"))
			eventually(t, "woken for a record", func() bool { return ws.have(w.at(p.pid)) })
		})
	}
}

func TestWhereNoticesWouldOpenKeysThereAreNone(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.h.watcher.open = func() (*fsnotify.Watcher, error) { return nil, errOpensFiles }
	var ws wakes
	w.watch(ws.add)
	eventually(t, "woken for the home", func() bool { return ws.have(w.home()) })
	w.write(p.idle("s"))
	w.read()
	w.holds("s")
	w.says("ok claude watch", "is swept each second", "keys")
	p.end()
	eventually(t, "woken for the death all the same", func() bool {
		return ws.have(reconcile.Place{Harness: events.Claude, PID: p.pid})
	})
}

// watched tells whether the doctor says that the folder is watched.
func (w *world) watched() bool {
	want := fmt.Sprintf("%q is watched by %s", w.folder(), watchMeans[runtime.GOOS])
	return slices.ContainsFunc(w.h.Facts(), func(f reconcile.Fact) bool { return f.OK && f.Fact == want })
}

func TestAFailingWatchIsNotTriedAtEverySweep(t *testing.T) {
	w := newWorld(t)
	opened := make(chan struct{}, 100)
	w.h.watcher.open = func() (*fsnotify.Watcher, error) {
		opened <- struct{}{}
		return nil, syscall.EMFILE
	}
	var ws wakes
	w.watch(ws.add)
	<-opened
	for range 10 {
		w.read()
		w.read(w.at(12))
	}
	if len(w.h.watcher.anew) > 0 {
		t.Error("a sweep asked for it")
	}
	w.must(os.Rename(w.folder(), w.folder()+".old"))
	w.mkdir() // another folder is another reason to try
	w.read()
	<-opened
}
