package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"peerbus/events"
	"peerbus/occupancy"
)

// verdict is the answer about a thread in these homes.
func verdict(t testing.TB, o owners, thread string, ours ...occupancy.Process) occupancy.Verdict {
	t.Helper()
	ledger := func(context.Context) ([]occupancy.Process, error) { return ours, nil }
	g := occupancy.NewGatherer(map[string]occupancy.Look{events.Codex: o.read}, ledger, false)
	defer g.Close()
	return g.Ask(t.Context(), occupancy.Question{Harness: events.Codex, Thread: thread})
}

func (s *stage) owners(more ...string) owners {
	return owners{homes: append([]string{s.dir}, more...), take: takeCensus, seesAll: seesAll}
}

// wants fails the test unless the verdict has that reason, "" being that the thread is attachable.
func (s *stage) wants(o owners, thread string, want occupancy.Reason) occupancy.Verdict {
	s.Helper()
	v := verdict(s, o, thread)
	if v.Reason != want || v.Attachable != (want == "") {
		s.Errorf("attachable %t, reason %q, want %q: %+v", v.Attachable, v.Reason, want, v)
	}
	return v
}

func TestOwnersOfAHeldThread(t *testing.T) {
	for status, lines := range map[events.Status][]string{
		events.Unknown: nil,
		events.Busy:    {turnLine("task_started")},
		events.Idle:    {turnLine("task_started"), turnLine("task_complete")},
	} {
		t.Run(string(status), func(t *testing.T) {
			s, p := newStage(t), spawn(t)
			thread := s.hold(p)
			if lines != nil {
				s.write(thread, append([]string{metaLine(thread)}, lines...)...)
			}
			v := s.wants(s.owners(), thread, occupancy.LiveProcess)
			want := []occupancy.Owner{{
				Harness: events.Codex, Thread: thread, PID: p.pid, Start: p.start, Source: "codex-locks", Status: status,
			}}
			if d := cmp.Diff(want, v.Owners); d != "" {
				t.Errorf("owners (-want +got):\n%s", d)
			}
			if v := verdict(t, s.owners(), thread, occupancy.Process{PID: p.pid, Start: p.start}); !v.Attachable {
				t.Errorf("held by a process of ours: %+v", v)
			}
			s.wants(s.owners(), newThread(t), "")
			p.does("release", s.lock(thread))
			s.wants(s.owners(), thread, "")
		})
	}
}

// TestOwnersByTheState has every state of the folder and the lock.
func TestOwnersByTheState(t *testing.T) {
	for name, tc := range map[string]struct {
		put  func(*stage, process, string)
		want occupancy.Reason
	}{
		"nothing":                          {func(*stage, process, string) {}, ""},
		"left behind":                      {func(s *stage, p process, id string) { p.does("hold", s.lock(id)); p.kill() }, ""},
		"let go":                           {func(s *stage, p process, id string) { p.does("hold", s.lock(id)); p.does("drop", s.lock(id)) }, ""},
		"shared":                           {func(s *stage, p process, id string) { p.does("share", s.lock(id)) }, occupancy.LiveProcess},
		"a POSIX lock":                     {func(s *stage, p process, id string) { p.does("posix", s.lock(id)) }, ""},
		"somebody else holds it and waits": {func(s *stage, p process, id string) { p.does("hold", s.lock(id)); p.does("wait", s.lock(id)) }, occupancy.LiveProcess},
		"coordination is held":             {func(s *stage, p process, _ string) { p.does("hold", filepath.Join(s.folder(), coordination)) }, ""},
		"another thread is held":           {func(s *stage, p process, _ string) { s.hold(p) }, ""},
		"a symbolic link": {func(s *stage, p process, id string) {
			p.does("hold", filepath.Join(s.dir, "elsewhere"))
			s.must(os.Symlink(filepath.Join(s.dir, "elsewhere"), s.lock(id)))
		}, occupancy.RegistryUnreadable},
		"a folder":  {func(s *stage, _ process, id string) { s.must(os.Mkdir(s.lock(id), 0o755)) }, occupancy.RegistryUnreadable},
		"no folder": {func(s *stage, _ process, _ string) { s.must(os.Remove(s.folder())) }, occupancy.DetectorUnavailable},
		"a file instead": {func(s *stage, _ process, _ string) {
			s.must(os.Remove(s.folder()))
			s.must(os.WriteFile(s.folder(), nil, 0o600))
		}, occupancy.RegistryUnreadable},
		"an heir": {func(s *stage, p process, id string) {
			heir, err := strconv.Atoi(p.ask("bequeath", s.lock(id)))
			s.must(err)
			p.kill()
			s.Cleanup(func() {
				if h, err := os.FindProcess(heir); err == nil {
					h.Kill()
				}
			})
		}, occupancy.LiveProcess},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newStage(t), spawn(t)
			thread := newThread(t)
			tc.put(s, p, thread)
			s.wants(s.owners(), thread, tc.want)
		})
	}
}

func TestOwnersOfSeveralHomes(t *testing.T) {
	s, other, p := newStage(t), newStage(t), spawn(t)
	thread := other.hold(p)
	missing := filepath.Join(t.TempDir(), "missing")
	s.wants(s.owners(other.dir), thread, occupancy.LiveProcess)
	s.wants(s.owners(s.dir), thread, "")
	if v := s.wants(s.owners(missing), thread, occupancy.DetectorUnavailable); len(v.Doubts) != 1 || v.Doubts[0].About != missing+"/thread-writer-locks" {
		t.Errorf("doubts %+v", v.Doubts)
	}
	if v := s.wants(s.owners(missing, other.dir, other.dir), thread, occupancy.LiveProcess); len(v.Owners) != 1 {
		t.Errorf("owners %+v", v.Owners)
	}
	s.wants(owners{take: takeCensus, seesAll: seesAll}, thread, occupancy.DetectorUnavailable)
}

func TestOwnersWhereTheKernelCannotBeAsked(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread, left := s.hold(p), newThread(t)
	s.must(os.WriteFile(s.lock(left), nil, 0o644))
	o := s.owners()
	o.take = func([]lockFile) census { return census{err: errors.New("no such table")} }
	s.wants(o, thread, occupancy.ProbeFailed)
	s.wants(o, newThread(t), "") // nobody can hold what has no lock
	for name, tc := range map[string]struct {
		says holding
		want occupancy.Reason
	}{
		"held, and not told by whom":              {holding{untold: true}, occupancy.HolderUnknown},
		"this file could not be asked about":      {holding{why: errors.New("no")}, occupancy.ProbeFailed},
		"taken by a pid that means nothing":       {holding{takers: []taker{{}}}, occupancy.HolderUnknown},
		"taken by one who has not got it":         {holding{takers: []taker{{pid: os.Getpid()}}}, occupancy.LiveProcess}, // the heir is found
		"another device, and it is not this file": {holding{takers: []taker{{pid: os.Getpid(), loose: true}}}, ""},
		"another device, and it is this file":     {holding{takers: []taker{{pid: p.pid, loose: true}}}, occupancy.LiveProcess},
		"nobody":                                  {holding{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := thread
			if tc.want == "" {
				asked = left
			}
			o.take = func(files []lockFile) census {
				i := slices.IndexFunc(files, func(f lockFile) bool { return f.id == asked })
				return census{of: map[fileID]holding{files[i].at: tc.says}}
			}
			s.wants(o, asked, tc.want)
		})
	}
	o.take = takeCensus
	o.seesAll = func() bool { return false }
	s.wants(o, thread, occupancy.LiveProcess)
	p.does("drop", s.lock(thread))
	s.wants(o, thread, occupancy.HolderUnknown)
}

// A lock that comes and goes while it is looked at is neither free nor owned.
func TestOwnersOfAnUnsteadyLock(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	thread, steady := s.hold(p), s.hold(p)
	p.does("drop", s.lock(thread))
	looks := 0
	o := s.owners()
	o.take = func(files []lockFile) census {
		c := takeCensus(files)
		if looks++; looks%2 == 0 {
			for _, f := range files {
				if f.id == thread {
					c.of[f.at] = holding{takers: []taker{{pid: q.pid}}}
				}
			}
		}
		return c
	}
	s.wants(o, thread, occupancy.HolderUnknown)
	if looks != maxLooks {
		t.Errorf("%d looks", looks)
	}
	s.wants(o, steady, occupancy.LiveProcess)
}

// The kernel can miss a row while others go. Who has the lock open holds it, whatever the table says.
func TestOwnersOfALockWhoseRowIsMissed(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	for missed := range 3 {
		looks := 0
		o := s.owners()
		o.take = func(files []lockFile) census {
			c := takeCensus(files)
			if looks++; missed == 2 || looks%2 == missed {
				clear(c.of)
			}
			return c
		}
		if v := s.wants(o, thread, occupancy.LiveProcess); len(v.Owners) != 1 || v.Owners[0].PID != p.pid {
			t.Errorf("owners %+v", v.Owners)
		}
	}
}

// TestOwnersNeverSaysFreeOfAHeldThread asks about a thread that is held while others come and go.
func TestOwnersNeverSaysFreeOfAHeldThread(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	thread := s.hold(p)
	done := make(chan struct{})
	var storm sync.WaitGroup
	storm.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			id := uuid.Must(uuid.NewV7()).String()
			for _, what := range []string{"hold", "release"} {
				if got := q.ask(what, s.lock(id)); got != "ok" {
					t.Errorf("%s: %q", what, got)
					return
				}
			}
		}
	})
	for range 20 {
		s.wants(s.owners(), thread, occupancy.LiveProcess)
	}
	close(done)
	storm.Wait()
}

func TestOwnersEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody waits any more")
	cancel(why)
	if _, err := Owners([]string{s.dir})(ctx); err != nil && !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOwnersReadsTheTableOnceALook(t *testing.T) {
	s, p := newStage(t), spawn(t)
	var threads []string
	for range 100 {
		threads = append(threads, s.hold(p))
	}
	looks := 0
	o := s.owners()
	o.take = func(files []lockFile) census { looks++; return takeCensus(files) }
	about, err := o.read(t.Context())
	s.must(err)
	for _, id := range threads {
		if f := about(t.Context(), id); !slices.ContainsFunc(f.Owners, func(o occupancy.Owner) bool { return o.PID == p.pid }) {
			t.Errorf("found %+v", f)
		}
	}
	if looks != 2 {
		t.Errorf("%d looks", looks)
	}
}
