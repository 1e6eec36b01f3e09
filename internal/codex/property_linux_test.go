package codex

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/reconcile"
)

// step is one thing that happens to one of the threads.
type step struct {
	what string
	who  int
}

// actor is a process and the threads that it holds, as a daemon or a window does.
type actor struct {
	process
	threads []string
}

// play moves threads while a harness watches.
type play struct {
	*stage
	actors []*actor
	ended  map[string]bool
}

// do has one thing happen. It is called from another goroutine than the test's.
func (pl *play) do(st step) error {
	a := pl.actors[st.who%len(pl.actors)]
	if st.what == "start" && len(pl.actors) < 6 {
		p, err := start(pl)
		pl.actors = append(pl.actors, &actor{process: p})
		return err
	}
	if len(a.threads) == 0 || st.what == "open" {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		a.threads = append(a.threads, id.String())
		return a.tries("hold", pl.lock(id.String()))
	}
	i := st.who % len(a.threads)
	thread := a.threads[i]
	switch st.what {
	case "prompt":
		return pl.add(thread, turnLine("task_started"), itemLine)
	case "answer":
		return pl.add(thread, itemLine, turnLine("task_complete"))
	case "close":
		pl.ended[thread] = true
		a.threads = slices.Delete(a.threads, i, i+1)
		return a.tries("release", pl.lock(thread))
	case "reopen":
		return cmp.Or(a.tries("release", pl.lock(thread)), a.tries("hold", pl.lock(thread)))
	case "kill":
		for _, id := range a.threads {
			pl.ended[id] = true
		}
		a.kill()
		p, err := start(pl)
		*a = actor{process: p}
		return err
	}
	return nil
}

// tries has the process do something with a path.
func (p process) tries(what, path string) error {
	if got := p.ask(what, path); got != "ok" {
		return fmt.Errorf("%s %s: %q", what, path, got)
	}
	return nil
}

// add adds lines to the rollout of a thread, which it begins if there is none.
func (pl *play) add(thread string, lines ...string) error {
	folder := foldersOf(pl.dir, thread)[0]
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, "rollout-x-"+thread+".jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if at, err := f.Seek(0, io.SeekEnd); err == nil && at == 0 {
		lines = append([]string{metaLine(thread)}, lines...)
	}
	for _, line := range lines { // in two writes, so that half a line is met
		if _, err := f.WriteString(line[:len(line)/2]); err != nil {
			return err
		}
		if _, err := f.WriteString(line[len(line)/2:] + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// loop reads as the reconcile loop does: what it is woken for, what it asked to look at again, and everything each
// 50 ms, until quiet says that it is over.
func (s *stage) loop(woken <-chan reconcile.Place, quiet func() bool) {
	s.Helper()
	sweep := time.NewTicker(50 * time.Millisecond)
	defer sweep.Stop()
	due := make(chan reconcile.Place, 1000)
	var timers []*time.Timer
	defer func() {
		for _, t := range timers {
			t.Stop()
		}
	}()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case pl := <-woken:
			s.read(pl)
		case pl := <-due:
			s.read(pl)
		case <-sweep.C:
			s.read()
			if quiet() {
				return
			}
		case <-deadline:
			s.Fatalf("not quiet within 30 s: the log has %v", s.threads())
		}
		for _, a := range s.last.Again {
			timers = append(timers, time.AfterFunc(a.After, func() {
				select {
				case due <- a.Place:
				default: // the sweep will do
				}
			}))
		}
	}
}

// The log that followed every change has what somebody sees who comes later.
func TestWhatWasFollowedIsWhatAFreshReaderSees(t *testing.T) {
	defer flag.Set("rapid.checks", flag.Lookup("rapid.checks").Value.String())
	if err := flag.Set("rapid.checks", "8"); err != nil { // each starts some processes
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				what: rapid.SampledFrom([]string{
					"start", "open", "open", "prompt", "prompt", "prompt", "answer", "answer", "close", "reopen", "kill",
				}).Draw(rt, "what"),
				who: rapid.IntRange(0, 99).Draw(rt, "who"),
			}
		}), 1, 60).Draw(rt, "steps")
		t.Run("", func(t *testing.T) { followed(t, steps) })
	})
}

func followed(t *testing.T, steps []step) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("after the steps %v", steps)
		}
	})
	s := newStage(t)
	pl := &play{stage: s, actors: []*actor{{process: spawn(t)}}, ended: map[string]bool{}}
	woken := make(chan reconcile.Place, 1000)
	s.watch(func(p reconcile.Place) {
		select {
		case woken <- p:
		default: // the sweep will do
		}
	})
	done := make(chan struct{})
	var writer sync.WaitGroup
	var failed error
	writer.Go(func() {
		defer close(done)
		for _, st := range steps {
			if failed = pl.do(st); failed != nil {
				return
			}
		}
	})
	defer writer.Wait()
	s.loop(woken, func() bool {
		select {
		case <-done:
		default:
			return false
		}
		if failed != nil {
			return true
		}
		fresh := map[events.ID]events.Peer{}
		for _, p := range New([]string{s.dir}, Options{}).Read(t.Context(), nil, nil).Peers {
			fresh[p.ID("")] = p
		}
		n := 0
		for _, a := range pl.actors {
			n += len(a.threads)
		}
		return len(fresh) == n && maps.Equal(fresh, s.log)
	})
	if failed != nil {
		t.Fatal(failed)
	}
	for _, g := range s.gone {
		if !pl.ended[g.Thread] && g.Reason != events.Exited {
			t.Errorf("%s went, which is there: %+v", g.Thread, g)
		}
	}
}
