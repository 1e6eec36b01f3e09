package claude

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/reconcile"
)

// session is a stand-in for Claude Code: a process and what it last wrote.
type session struct {
	process
	rec     written
	renamed int
}

// step is one thing that a session does.
type step struct {
	what string
	who  int
}

// stage has the sessions that a writer moves, while a harness watches.
type stage struct {
	folder string
	spawn  func() (process, error)
	all    []*session
	names  int
	ended  map[string]bool // by session id
}

func (s *stage) id() string {
	s.names++
	return fmt.Sprintf("session-%d", s.names)
}

func (s *stage) open() error {
	p, err := s.spawn()
	if err != nil {
		return err
	}
	n := &session{process: p, rec: p.idle(s.id())}
	s.all = append(s.all, n)
	n.rec.Status = "" // born bare
	if err := writeRecord(s.folder, n.rec); err != nil {
		return err
	}
	n.rec.Status = "idle"
	return writeRecord(s.folder, n.rec)
}

// do has one of the sessions that live do one thing.
func (s *stage) do(st step) error {
	if len(s.all) == 0 || st.what == "open" && len(s.all) < 10 {
		return s.open()
	}
	n := s.all[st.who%len(s.all)]
	switch st.what {
	case "work":
		n.rec.Status = map[string]string{"idle": "busy", "busy": "waiting", "waiting": "shell", "shell": "idle"}[n.rec.Status]
		n.rec.Since++
	case "rename":
		n.renamed++
		n.rec.Name = fmt.Sprintf("name:%d\n", n.renamed)
	case "clear":
		s.ended[n.rec.Session] = true
		n.rec.Session = s.id()
	case "park":
		return s.park(n)
	case "quit", "kill":
		s.ended[n.rec.Session] = true
		s.all = slices.DeleteFunc(s.all, func(m *session) bool { return m == n })
		if st.what == "quit" {
			if err := os.Remove(s.folder + "/" + fileName(n.pid)); err != nil {
				return err
			}
		}
		n.end()
		return nil
	}
	return writeRecord(s.folder, n.rec)
}

// park moves a session into a background job.
func (s *stage) park(n *session) error {
	p, err := s.spawn()
	if err != nil {
		return err
	}
	s.ended[n.rec.Session] = true
	job := &session{process: p}
	job.rec = job.idle(s.id())
	job.rec.Kind, job.rec.Job = "bg", job.rec.Session
	n.rec.Parked = job.rec.Job
	s.all = slices.DeleteFunc(s.all, func(m *session) bool { return m == n })
	s.all = append(s.all, job)
	// In this order nobody is waited for, however busy the machine is.
	if err := writeRecord(s.folder, job.rec); err != nil {
		return err
	}
	return writeRecord(s.folder, n.rec)
}

// loop reads as the reconcile loop does: what it is woken for, what it asked to look at again, and everything each
// 50 ms, until quiet says that it is over.
func (w *world) loop(woken <-chan reconcile.Place, quiet func() bool) {
	w.Helper()
	sweep := time.NewTicker(50 * time.Millisecond)
	defer sweep.Stop()
	due := make(chan reconcile.Place, 1000)
	var timers []*time.Timer
	defer func() {
		for _, t := range timers {
			t.Stop()
		}
	}()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case pl := <-woken:
			w.read(pl)
		case pl := <-due:
			w.read(pl)
		case <-sweep.C:
			w.read()
			if quiet() {
				return
			}
		case <-deadline:
			w.Fatalf("not quiet within 20 s: the log has %v", w.peers())
		}
		for _, a := range w.again {
			timers = append(timers, time.AfterFunc(a.After, func() {
				select {
				case due <- a.Place:
				default: // the sweep will do
				}
			}))
		}
	}
}

// The log that followed every change, however torn what it read, has what somebody sees who comes later.
func TestWhatWasFollowedIsWhatAFreshReaderSees(t *testing.T) {
	defer flag.Set("rapid.checks", flag.Lookup("rapid.checks").Value.String())
	if err := flag.Set("rapid.checks", "10"); err != nil { // each starts some ten processes
		t.Fatal(err)
	}
	torn := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				what: rapid.SampledFrom([]string{
					"open", "open", "work", "work", "work", "work", "rename", "clear", "park", "quit", "kill",
				}).Draw(rt, "what"),
				who: rapid.IntRange(0, 9).Draw(rt, "who"),
			}
		}), 1, 60).Draw(rt, "steps")
		t.Run("", func(t *testing.T) { torn += followed(t, steps) })
	})
	t.Logf("%d torn reads", torn)
}

func followed(t *testing.T, steps []step) (torn int) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("after the steps %v", steps)
		}
	})
	w := newWorld(t)
	s := &stage{folder: w.folder(), ended: map[string]bool{}, spawn: func() (process, error) { return start(t) }}
	woken := make(chan reconcile.Place, 1000)
	w.watch(func(pl reconcile.Place) {
		select {
		case woken <- pl:
		default: // the sweep will do
		}
	})
	var writer sync.WaitGroup
	var failed error
	done := make(chan struct{})
	writer.Go(func() {
		defer close(done)
		for _, st := range steps {
			if failed = s.do(st); failed != nil {
				return
			}
		}
	})
	defer writer.Wait()
	var fresh []events.Peer
	w.loop(woken, func() bool {
		select {
		case <-done:
		default:
			return false
		}
		fresh = New([]string{w.dir}, Options{}).Read(t.Context(), nil, nil).Peers
		return len(fresh) == len(s.all) && cmp.Equal(index(fresh), w.log)
	})
	if failed != nil {
		t.Fatal(failed)
	}
	for _, g := range w.gone {
		if !s.ended[g.Session] {
			t.Errorf("%s went, which is there: %+v", g.Session, g)
		}
		if g.Reason == events.Parked && g.Successor == (events.Ref{}) && !s.ended[g.Job] {
			t.Errorf("%s was parked and nobody went on", g.Session)
		}
		if g.Reason == events.Unregistered || g.Reason == events.Replaced {
			t.Errorf("%s is said to be %s", g.Session, g.Reason)
		}
	}
	return w.h.homes[0].torn
}

func index(peers []events.Peer) map[events.ID]events.Peer {
	m := map[events.ID]events.Peer{}
	for _, p := range peers {
		m[p.ID("")] = p
	}
	return m
}
