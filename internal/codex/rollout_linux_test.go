package codex

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"peerbus/events"
	"peerbus/reconcile"
)

// A window in which nothing was said yet has a lock and no rollout.
func TestThreadWithoutARollout(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.read()
	at, _ := born(thread)
	want := events.Peer{
		Harness: events.Codex, Session: thread, PID: p.pid, Start: p.start, Home: s.dir, Status: events.Unknown, Started: events.At(at),
	}
	if d := cmp.Diff(want, s.only()); d != "" {
		t.Errorf("peer (-want +got):\n%s", d)
	}
	s.says("codex threads", "1 held without a rollout")
	s.write(thread, metaLine(thread), turnLine("task_started"))
	s.read()
	if got := s.only(); got.Status != events.Busy || got.Cwd != "/home/u/proj" {
		t.Errorf("once there is one: %+v", got)
	}
	s.must(os.Remove(s.rollout(thread)))
	s.read()
	if d := cmp.Diff(want, s.only()); d != "" {
		t.Errorf("once it is gone (-want +got):\n%s", d)
	}
}

// TestOddRollouts has what may stand where a rollout should: the thread is a peer all the same, nothing is said of it
// that is not known, and nothing is read whole or waited for.
func TestOddRollouts(t *testing.T) {
	whole := func(thread string) string { return metaLine(thread) + "\n" + turnLine("task_started") + "\n" }
	put := func(make func(thread string) string) func(*stage, string) {
		return func(s *stage, thread string) { s.must(os.WriteFile(s.rollout(thread), []byte(make(thread)), 0o644)) }
	}
	for name, tc := range map[string]struct {
		put  func(*stage, string)
		want events.Status
		cwd  string
		why  string
	}{
		"cut in its last line": {put(func(id string) string { return whole(id) + turnLine("task_complete")[:50] }), events.Busy, "/home/u/proj", ""},
		"cut in its first":     {put(func(id string) string { return metaLine(id)[:80] }), events.Unknown, "", "no first line"},
		"empty":                {put(func(string) string { return "" }), events.Unknown, "", "no first line"},
		"not JSON":             {put(func(string) string { return strings.Repeat("\x00\xffevent_msg task_started\n", 100) }), events.Unknown, "", "no first line"},
		"another thread's":     {put(func(string) string { return whole(oneThread) }), events.Unknown, "", "another thread's"},
		"of 1 GiB": {func(s *stage, thread string) {
			s.write(thread, metaLine(thread), turnLine("task_started"))
			s.must(os.Truncate(s.rollout(thread), 1<<30))
		}, events.Unknown, "/home/u/proj", ""},
		"of 1 GiB with an end": {func(s *stage, thread string) {
			s.must(os.WriteFile(s.rollout(thread), nil, 0o644))
			s.must(os.Truncate(s.rollout(thread), 1<<30))
			s.write(thread, "", turnLine("task_complete"))
		}, events.Idle, "", "more than 1 MiB"},
		"a FIFO":   {func(s *stage, thread string) { s.must(unix.Mkfifo(s.rollout(thread), 0o644)) }, events.Unknown, "", "no regular file"},
		"a folder": {func(s *stage, thread string) { s.must(os.Mkdir(s.rollout(thread), 0o755)) }, events.Unknown, "", "no regular file"},
		"a symlink": {func(s *stage, thread string) {
			elsewhere := filepath.Join(s.dir, "elsewhere")
			s.must(os.WriteFile(elsewhere, []byte(whole(thread)), 0o644))
			s.must(os.Symlink(elsewhere, s.rollout(thread)))
		}, events.Unknown, "", "symbolic link"},
		"of another user": {func(s *stage, thread string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			s.write(thread, metaLine(thread), turnLine("task_started"))
			s.must(os.Chown(s.rollout(thread), 65534, 65534))
		}, events.Unknown, "", "another user"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newStage(t), spawn(t)
			thread := s.hold(p)
			tc.put(s, thread)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.read()
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 100<<20 {
				t.Errorf("%d MiB were taken for reading", got>>20)
			}
			if got := s.only(); got.Status != tc.want || got.Cwd != tc.cwd {
				t.Errorf("peer %+v", got)
			}
			if tc.why != "" {
				s.says("bad codex rollout", tc.why)
			}
			s.mend(thread)
		})
	}
}

// mend puts a whole rollout in the place of what is there, and fails the test unless it counts.
func (s *stage) mend(thread string) {
	s.Helper()
	s.must(os.RemoveAll(s.rollout(thread)))
	s.write(thread, metaLine(thread), turnLine("task_complete"))
	s.read()
	if got := s.only(); got.Status != events.Idle || got.Cwd != "/home/u/proj" {
		s.Errorf("once it is whole: %+v", got)
	}
}

// TestRolloutIsFound has rollouts in the places where they can be.
func TestRolloutIsFound(t *testing.T) {
	const old = "25c49259-5cd0-4744-a158-5d764d50082a" // tells no time
	s, p := newStage(t), spawn(t)
	for i, folder := range foldersOf(s.dir, newThread(t)) {
		thread := newThread(t)
		p.does("hold", s.lock(thread))
		s.must(os.MkdirAll(folder, 0o755))
		s.must(os.WriteFile(filepath.Join(folder, "rollout-x-"+thread+".jsonl"), []byte(metaLine(thread)+"\n"), 0o644))
		s.settle()
		if got := s.log[events.ID{Harness: events.Codex, Session: thread, PID: p.pid, Start: p.start}]; got.Cwd == "" {
			t.Errorf("%d: not found in %s", i, folder)
		}
	}
	p.does("hold", s.lock(old))
	elsewhere := filepath.Join(s.dir, "rollout-2025-01-01T00-00-00-"+old+".jsonl")
	s.must(os.WriteFile(elsewhere, []byte(metaLine(old)+"\n"), 0o644))
	s.settle()
	peer := func() events.Peer {
		return s.log[events.ID{Harness: events.Codex, Session: old, PID: p.pid, Start: p.start}]
	}
	if got := peer(); got.Cwd != "" || got.Started != 0 {
		t.Errorf("peer %+v", got)
	}
	p.does("append", elsewhere)
	s.skew = soughtEvery
	s.settle()
	if got := peer(); got.Cwd == "" {
		t.Errorf("not found by what the holder has open: %+v", got)
	}
}

// A turn shows by the notice of what was written, without a sweep.
func TestTurnShowsByANotice(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_complete"))
	var ws wakes
	s.read() // finds the folder in which the rollout is
	s.watch(ws.add)
	eventually(t, "the folder of the rollout is watched", func() bool {
		a, _ := s.h.watcher.state(filepath.Dir(s.rollout(thread)))
		return a.err == nil && a.id != fileID{}
	})
	s.read() // for what was woken for when the watch began
	ws.forget()
	began := time.Now()
	before := s.h.censuses
	s.write(thread, turnLine("task_started"))
	eventually(t, "woken for the thread", func() bool { return ws.have(s.at(thread)) })
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	s.read(s.at(thread))
	if got := s.only(); got.Status != events.Busy {
		t.Errorf("peer %+v", got)
	}
	if s.h.censuses != before {
		t.Error("it was asked who holds the locks because of a line in a rollout")
	}
}

// A rollout that comes into a folder which was not there before is watched after the next sweep.
func TestNewDayIsWatched(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	var ws wakes
	s.watch(ws.add)
	s.settle()
	s.write(thread, metaLine(thread))
	s.settle()
	eventually(t, "the folder of the rollout is watched", func() bool {
		a, _ := s.h.watcher.state(filepath.Dir(s.rollout(thread)))
		return a.err == nil && a.id != fileID{}
	})
	ws.forget()
	s.write(thread, turnLine("task_started"))
	eventually(t, "woken for the thread", func() bool { return ws.have(s.at(thread)) })
}

func TestLockMakesANotice(t *testing.T) {
	s, p := newStage(t), spawn(t)
	var ws wakes
	s.watch(ws.add)
	thread := s.hold(p)
	eventually(t, "woken for the lock", func() bool { return ws.have(s.at(thread)) })
	s.settle(s.at(thread))
	s.has(thread)
	ws.forget()
	p.does("release", s.lock(thread))
	eventually(t, "woken for its removal", func() bool { return ws.have(s.at(thread)) })
	s.read(s.at(thread))
	s.went(going{thread, p.pid, events.Exited})
	s.must(os.Rename(s.folder(), s.folder()+".old"))
	s.mkdir()
	s.settle()
	thread = s.hold(p)
	eventually(t, "woken in the new folder", func() bool {
		s.read()
		return ws.have(s.at(thread)) || ws.have(reconcile.Place{Harness: events.Codex, Home: s.dir})
	})
}
