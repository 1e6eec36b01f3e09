package codex

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"peerbus/events"
	"peerbus/reconcile"
)

// stage is a home, the harness that reads it, and a log that believes every snapshot.
type stage struct {
	testing.TB
	dir string // the home
	h   *Harness

	skew time.Duration // how far the harness's clock is ahead
	log  map[events.ID]events.Peer
	gone []going
	last reconcile.Snapshot
}

// going is one peer that went.
type going struct {
	Thread string
	PID    int
	Reason events.Reason
}

func newStage(t testing.TB, more ...string) *stage {
	t.Helper()
	s := &stage{TB: t, dir: t.TempDir(), log: map[events.ID]events.Peer{}}
	s.mkdir()
	s.restart(more...)
	return s
}

// restart replaces the harness by a new one, which knows nothing; the log stays.
func (s *stage) restart(more ...string) {
	s.h = New(append([]string{s.dir}, more...), Options{Log: slog.New(slog.DiscardHandler)})
	s.h.now = func() time.Time { return time.Now().Add(s.skew) }
}

func (s *stage) folder() string { return filepath.Join(s.dir, "thread-writer-locks") }

func (s *stage) mkdir() {
	s.Helper()
	s.must(os.Mkdir(s.folder(), 0o755))
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func newThread(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func (s *stage) lock(thread string) string { return filepath.Join(s.folder(), lockName(thread)) }

// holds has a process hold a new thread.
func (s *stage) hold(p process) (thread string) {
	s.Helper()
	thread = newThread(s)
	p.does("hold", s.lock(thread))
	return thread
}

// rollout is where the rollout of a thread is, whose folder it makes.
func (s *stage) rollout(thread string) string {
	s.Helper()
	folder := foldersOf(s.dir, thread)[0]
	s.must(os.MkdirAll(folder, 0o755))
	return filepath.Join(folder, "rollout-2026-11-30T22-13-48-"+thread+".jsonl")
}

// write adds lines to the rollout of a thread.
func (s *stage) write(thread string, lines ...string) {
	s.Helper()
	f, err := os.OpenFile(s.rollout(thread), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	s.must(err)
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	s.must(err)
	s.must(f.Close())
}

func metaLine(thread string) string {
	return `{"timestamp":"2026-11-30T22:13:58.036Z","ordinal":0,"type":"session_meta","payload":{"session_id":"` + thread +
		`","id":"` + thread + `","timestamp":"2026-11-30T22:13:48.414Z","cwd":"/home/u/proj","originator":"codex-tui",` +
		`"cli_version":"0.171.0","source":"vscode","thread_source":"user","base_instructions":{"text":"You are"}}}`
}

func turnLine(word string) string {
	return `{"timestamp":"2026-11-30T22:14:43.753Z","ordinal":38,"type":"event_msg","payload":{"type":"` + word + `","turn_id":"t"}}`
}

// itemLine is a line that says nothing of turns, though it has the words in it.
const itemLine = `{"timestamp":"2026-11-30T22:14:00.000Z","ordinal":7,"type":"response_item","payload":{"type":"message",` +
	`"content":"\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\""}}`

func (s *stage) at(thread string) reconcile.Place {
	return reconcile.Place{Harness: events.Codex, Home: s.dir, Session: thread}
}

// read reads, has the log believe it, and fails the test where the snapshot leaves open what became of somebody.
func (s *stage) read(of ...reconcile.Place) reconcile.Snapshot {
	s.Helper()
	known := slices.Collect(maps.Values(s.log))
	s.last = s.h.Read(s.Context(), of, known)
	seen := map[events.ID]events.Peer{}
	for _, p := range s.last.Peers {
		if _, again := seen[p.ID("")]; again {
			s.Fatalf("twice in one snapshot: %+v", p)
		}
		seen[p.ID("")] = p
	}
	for _, k := range known {
		if len(of) > 0 && !slices.ContainsFunc(of, func(pl reconcile.Place) bool { return pl.Holds(k) }) {
			continue
		}
		id := k.ID("")
		_, isThere := seen[id]
		why, isGone := s.last.Gone[id]
		unread := slices.ContainsFunc(s.last.Unread, func(pl reconcile.Place) bool { return pl.Holds(k) })
		if n := len(slices.DeleteFunc([]bool{isThere, isGone, unread}, func(b bool) bool { return !b })); n != 1 {
			s.Fatalf("%d things said of %+v in %+v", n, k, s.last)
		}
		if isGone {
			delete(s.log, id)
			s.gone = append(s.gone, going{k.Session, k.PID, why.Reason})
		}
	}
	maps.Copy(s.log, seen)
	return s.last
}

// settle reads as a loop would, what it is asked to look at again, until nothing is asked for any more.
func (s *stage) settle(of ...reconcile.Place) {
	s.Helper()
	s.read(of...)
	for deadline := time.Now().Add(10 * time.Second); len(s.last.Again) > 0; {
		if time.Now().After(deadline) {
			s.Fatalf("asked for another look for 10 s: %+v", s.last)
		}
		next := slices.MinFunc(s.last.Again, func(a, b reconcile.Again) int { return int(a.After - b.After) })
		<-time.After(next.After)
		s.read(next.Place)
	}
}

// threads are those in the log, sorted.
func (s *stage) threads() []string {
	var ids []string
	for _, p := range s.log {
		ids = append(ids, p.Session)
	}
	slices.Sort(ids)
	return ids
}

// has fails the test unless the log has these threads and no others.
func (s *stage) has(threads ...string) {
	s.Helper()
	slices.Sort(threads)
	if d := cmp.Diff(threads, s.threads()); d != "" {
		s.Errorf("threads in the log (-want +got):\n%s", d)
	}
}

// went fails the test unless these have gone since it was asked last, in any order.
func (s *stage) went(want ...going) {
	s.Helper()
	byThread := func(a, b going) int { return strings.Compare(a.Thread, b.Thread) }
	slices.SortFunc(want, byThread)
	slices.SortFunc(s.gone, byThread)
	if d := cmp.Diff(want, s.gone); d != "" {
		s.Errorf("gone (-want +got):\n%s", d)
	}
	s.gone = nil
}

// only is the one peer in the log.
func (s *stage) only() events.Peer {
	s.Helper()
	if len(s.log) != 1 {
		s.Fatalf("%d peers in the log: %v", len(s.log), s.threads())
	}
	for _, p := range s.log {
		return p
	}
	panic("unreachable")
}

// says fails the test unless the doctor's report has a line with all of these in it.
func (s *stage) says(parts ...string) {
	s.Helper()
	var report strings.Builder
	for _, f := range s.h.Facts() {
		mark := "bad"
		if f.OK {
			mark = "ok"
		}
		line := mark + " " + f.Check + ": " + f.Fact + " (" + f.Hint + ")\n"
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return
		}
		report.WriteString(line)
	}
	s.Errorf("no line with %q in\n%s", parts, report.String())
}

// watch watches until the test ends, and returns when everything is set up.
func (s *stage) watch(wake func(reconcile.Place)) {
	s.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := errors.New("the test ended")
	done := make(chan error)
	first := make(chan struct{})
	once := sync.OnceFunc(func() { close(first) })
	go func() {
		done <- s.h.Watch(ctx, func(pl reconcile.Place) {
			wake(pl)
			once()
		})
	}()
	s.Cleanup(func() {
		cancel(ended)
		if err := <-done; !errors.Is(err, ended) {
			s.Errorf("Watch returned %v, want the cause of its end", err)
		}
	})
	select {
	case <-first:
	case <-time.After(10 * time.Second):
		s.Fatal("nobody was woken at the start")
	}
}

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

func (w *wakes) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = nil
}
