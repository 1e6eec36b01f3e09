package codex

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"peerbus/events"
	"peerbus/reconcile"
)

// TestOverflowOfTheQueue writes to rollouts more often than the kernel's queue has places, while the consumer stands
// still. What happens to a thread meanwhile is found.
func TestOverflowOfTheQueue(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	queue, err := strconv.Atoi(strings.TrimSpace(string(limit)))
	if err != nil {
		t.Fatal(err)
	}
	s, p := newStage(t), spawn(t)
	var threads []string
	var files []*os.File
	for range 4 {
		id := s.hold(p)
		s.write(id, metaLine(id), turnLine("task_started"))
		f, err := os.OpenFile(s.rollout(id), os.O_WRONLY|os.O_APPEND, 0)
		s.must(err)
		defer f.Close()
		threads, files = append(threads, id), append(files, f)
	}
	s.read()
	var ws wakes
	var still sync.Mutex
	s.watch(func(pl reconcile.Place) {
		still.Lock()
		defer still.Unlock()
		ws.add(pl)
	})
	eventually(t, "the folder of the rollouts is watched", func() bool {
		a, _ := s.h.watcher.state(filepath.Dir(s.rollout(threads[0])))
		return a.err == nil && a.id != fileID{}
	})
	seen := s.read().At
	ws.forget()
	still.Lock()
	for i := range max(40_000, queue*3/2) { // in turn, since the kernel joins two equal notices in a row
		_, err := files[i%4].WriteString("{\n")
		s.must(err)
	}
	_, err = files[3].WriteString(turnLine("task_complete") + "\n")
	s.must(err)
	p.does("release", s.lock(threads[0]))
	still.Unlock()
	eventually(t, "woken for the home", func() bool {
		return ws.have(reconcile.Place{Harness: events.Codex, Home: s.dir})
	})
	back := s.read()
	s.went(going{threads[0], p.pid, events.Exited})
	if want := (reconcile.Blind{From: seen, To: back.At, Why: events.Overflow}); len(back.Blind) != 1 || back.Blind[0] != want {
		t.Errorf("blind %v, want %v", back.Blind, want)
	}
	if got := s.log[events.ID{Harness: events.Codex, Session: threads[3], PID: p.pid, Start: p.start}]; got.Status != events.Idle {
		t.Errorf("peer %+v", got)
	}
	s.says("codex watch", "notices were lost")
}

func TestInotifyNotAvailable(t *testing.T) {
	refusal := syscall.EMFILE
	for name, refuse := range map[string]func() (*fsnotify.Watcher, error){
		"no watcher": func() (*fsnotify.Watcher, error) { return nil, refusal },
		"no watch": func() (*fsnotify.Watcher, error) {
			w, err := fsnotify.NewWatcher()
			if err == nil {
				w.Close() // which refuses to add anything
			}
			return w, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newStage(t), spawn(t)
			var mu sync.Mutex
			refusing, tries := true, 0
			s.h.watcher.retry = 20 * time.Millisecond
			s.h.watcher.open = func() (*fsnotify.Watcher, error) {
				mu.Lock()
				defer mu.Unlock()
				if tries++; refusing {
					return refuse()
				}
				return fsnotify.NewWatcher()
			}
			var ws wakes
			s.watch(ws.add)
			thread := s.hold(p)
			s.settle()
			s.has(thread)
			s.says("bad codex watch", "is swept only")
			p.kill()
			dead := reconcile.Place{Harness: events.Codex, PID: p.pid}
			eventually(t, "woken for the death all the same", func() bool { return ws.have(dead) })
			mu.Lock()
			refusing = false
			mu.Unlock()
			eventually(t, "watched once it is granted", func() bool {
				a, _ := s.h.watcher.state(s.folder())
				return a.err == nil
			})
			s.says("ok codex watch", "is watched by inotify")
		})
	}
}
