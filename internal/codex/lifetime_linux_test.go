package codex

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/reconcile"
)

func TestThreadInATurnIsAPeer(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"), itemLine)
	s.read()
	at, _ := born(thread)
	since, _ := time.Parse(time.RFC3339, "2026-11-30T22:14:43.753Z")
	want := events.Peer{
		Harness: events.Codex, Session: thread, PID: p.pid, Start: p.start, Cwd: "/home/u/proj", Home: s.dir,
		Kind: "interactive", Entrypoint: "codex-tui", Version: "0.171.0",
		Status: events.Busy, VendorStatus: "task_started", StatusSince: events.At(since), Started: events.At(at),
	}
	if d := cmp.Diff(want, s.only()); d != "" {
		t.Errorf("peer (-want +got):\n%s", d)
	}
	s.write(thread, turnLine("task_complete"))
	s.read(s.at(thread))
	if got := s.only(); got.Status != events.Idle || got.VendorStatus != "task_complete" {
		t.Errorf("after the turn: %+v", got)
	}
}

// A lock that is taken after the first look is believed when it was seen twice.
func TestLockIsBelievedWhenItWasSeenTwice(t *testing.T) {
	s, p := newStage(t), spawn(t)
	first := s.hold(p)
	s.settle()
	s.has(first)
	second := s.hold(p)
	s.read()
	s.has(first)
	if !slices.ContainsFunc(s.last.Again, func(a reconcile.Again) bool { return a.Place == s.at(second) }) {
		t.Errorf("no other look is asked for: %+v", s.last.Again)
	}
	s.settle(s.at(second))
	s.has(first, second)
}

// Codex locks files that were left behind for an instant, to find out that they were.
func TestLockOfAnInstantIsNobody(t *testing.T) {
	s, p := newStage(t), spawn(t)
	first, second := s.hold(p), newThread(t)
	s.settle()
	p.does("hold", s.lock(second))
	s.read()
	p.does("drop", s.lock(second))
	s.settle()
	s.has(first)
	s.went()
	s.says("codex threads", "1 threads held", "1 left behind")
}

// The kernel can miss a row while others go: nobody goes for that, and somebody new is looked for again.
func TestRowThatIsMissed(t *testing.T) {
	s, p := newStage(t), spawn(t)
	stays := s.hold(p)
	s.settle()
	misses := 0
	s.h.take = func(files []lockFile) census {
		c := takeCensus(files)
		if misses--; misses >= 0 {
			clear(c.of)
		}
		return c
	}
	for n := range 5 {
		misses = n
		s.h.cause.Store(true)
		s.settle()
		s.has(stays)
	}
	misses = 1
	born := s.hold(p)
	s.settle()
	s.has(stays, born)
	misses = 0
	next := s.hold(p)
	s.read()
	misses = 1
	s.settle()
	s.has(stays, born, next)
	s.went()
}

// TestEndings has each way in which a thread ends, and what is said of it.
func TestEndings(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(*stage, process, string)
		want events.Reason
	}{
		"exec that ends, INT: the file is removed": {func(s *stage, p process, thread string) {
			p.does("release", s.lock(thread))
			p.kill()
		}, events.Exited},
		"exec that gets -9 or TERM: the file stays": {func(_ *stage, p process, _ string) { p.kill() }, events.Died},
		"daemon that unloads: the file is removed and the process lives on": {func(s *stage, p process, thread string) {
			p.does("release", s.lock(thread))
		}, events.Exited},
		"lock let go, the file stays and the process lives on": {func(s *stage, p process, thread string) {
			p.does("drop", s.lock(thread))
		}, events.Died},
		"killed, and what was left is swept by another": {func(s *stage, p process, thread string) {
			p.kill()
			s.must(os.Remove(s.lock(thread)))
		}, events.Exited},
	} {
		t.Run(name, func(t *testing.T) {
			s, p, q := newStage(t), spawn(t), spawn(t)
			thread, stays := s.hold(p), s.hold(q)
			s.settle()
			s.has(thread, stays)
			tc.end(s, p, thread)
			s.skew = censusEvery // a lock that is let go and no more makes no notice
			s.settle()
			s.has(stays)
			s.went(going{thread, p.pid, tc.want})
		})
	}
}

// A holder that is proven dead is gone at the first look, and so is one whose file is.
func TestProvenEndingsNeedOneLook(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	died, exited := s.hold(p), s.hold(q)
	s.settle()
	p.kill()
	q.does("release", s.lock(exited))
	s.read()
	s.has()
	s.went(going{died, p.pid, events.Died}, going{exited, q.pid, events.Exited})
}

// TestEndingsWhileNobodyWatched has the same found by a harness that has seen nothing of it.
func TestEndingsWhileNobodyWatched(t *testing.T) {
	s, p, q, o := newStage(t), spawn(t), spawn(t), spawn(t)
	died, exited, stays := s.hold(p), s.hold(q), s.hold(o)
	s.settle()
	p.kill()
	q.does("release", s.lock(exited))
	s.restart()
	s.read()
	s.has(stays)
	s.went(going{died, p.pid, events.Died}, going{exited, q.pid, events.Exited})
	if len(s.last.Peers) != 1 {
		t.Errorf("who was known and holds its lock was not believed at once: %+v", s.last)
	}
}

func TestDeathIsTold(t *testing.T) {
	s, p := newStage(t), spawn(t)
	var ws wakes
	s.watch(ws.add)
	threads := []string{s.hold(p), s.hold(p), s.hold(p)}
	s.settle()
	s.has(threads...)
	before := s.h.censuses
	p.kill()
	dead := reconcile.Place{Harness: events.Codex, PID: p.pid}
	eventually(t, "woken for the death", func() bool { return ws.have(dead) })
	s.read(dead)
	s.has()
	if n := s.h.censuses - before; n != 1 {
		t.Errorf("the locks were asked about %d times", n)
	}
}

func TestFileIsReplaced(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	thread := s.hold(p)
	s.settle()
	p.does("release", s.lock(thread))
	p.does("hold", s.lock(thread))
	s.settle()
	s.has(thread)
	s.went()
	p.does("release", s.lock(thread))
	q.does("hold", s.lock(thread))
	s.settle()
	s.has(thread)
	s.went(going{thread, p.pid, events.Exited})
	if got := s.only(); got.PID != q.pid {
		t.Errorf("held by pid %d, want %d", got.PID, q.pid)
	}
}

// Another process opens a thread that was left behind: the file is the same.
func TestFileIsTakenOver(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	thread := s.hold(p)
	s.settle()
	p.kill()
	q.does("hold", s.lock(thread))
	s.settle()
	s.went(going{thread, p.pid, events.Died})
	if got := s.only(); got.PID != q.pid {
		t.Errorf("held by pid %d, want %d", got.PID, q.pid)
	}
	// A lock that is taken on a file that is there makes no notice: it is found by the time that passes.
	other := newThread(t)
	s.must(os.WriteFile(s.lock(other), nil, 0o644))
	s.settle()
	q.does("hold", s.lock(other))
	s.settle()
	s.has(thread)
	s.skew = censusEvery
	s.settle()
	s.has(thread, other)
}

func TestSubAgentHasAParent(t *testing.T) {
	s, p := newStage(t), spawn(t)
	parent, child := s.hold(p), s.hold(p)
	s.write(parent, metaLine(parent), turnLine("task_started"))
	s.write(child, `{"timestamp":"2026-11-30T22:14:24.425Z","type":"session_meta","payload":{"session_id":"`+parent+`","id":"`+child+
		`","parent_thread_id":"`+parent+`","cwd":"/home/u/proj","originator":"codex-tui","cli_version":"0.171.0",`+
		`"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+parent+`","depth":1,"agent_nickname":"Lagrange"}}},"agent_nickname":"Lagrange"}}`)
	s.settle()
	got := map[string][2]string{}
	for _, p := range s.log {
		got[p.Session] = [2]string{p.Name, p.Parent}
	}
	want := map[string][2]string{parent: {"", ""}, child: {"Lagrange", parent}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("names and parents (-want +got):\n%s", d)
	}
}
