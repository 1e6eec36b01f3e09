package real

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"peerbus/events"
	"peerbus/test/audit"
)

// buildDir is where the program is built; TestMain makes and removes it.
var buildDir string

// waitForStdin makes the test binary a process that does nothing until its standard input is closed.
const waitForStdin = "REAL_TEST_WAIT"

func TestMain(m *testing.M) {
	if os.Getenv(waitForStdin) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "pbuild")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		buildDir = dir
		return m.Run()
	}())
}

// program is the watcher as its users build it.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "watcher")
	cmd := exec.Command("go", "build", "-o", path, "peerbus/cmd/watcher")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the watcher: %w: %s", err, out)
	}
	return path, nil
})

// watcher is a `watcher run` that watches a home, and a `watcher tail` that says what it publishes.
type watcher struct {
	t         *testing.T
	home      *Home
	path      string
	run, tail *child
	names     map[int]string // what the story calls the peers, by pid
	told      int            // how many lines of the story have been checked
	reached   uint64         // a sequence that the story has to reach before it is checked
}

// watch starts a watcher with a state folder of its own, and returns when it answers. At the end of the test nothing
// more may have been told, the log must be one that can be, and the watcher has to end well when it is interrupted.
func watch(t *testing.T, h *Home) *watcher {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t: t, home: h, path: path, names: map[int]string{}}
	t.Cleanup(w.end)
	t.Cleanup(w.closes)
	w.start()
	w.tells("watch resumed: start")
	return w
}

func (w *watcher) command(ctx context.Context, args ...string) *exec.Cmd {
	return w.home.command(ctx, w.path, append(args, "--json", "--state", filepath.Join(w.home.Dir, "state"))...)
}

func (w *watcher) start() {
	w.t.Helper()
	w.run = start(w.t, w.command(context.WithoutCancel(w.t.Context()), "run", "--claude-home", w.home.Claude()))
	w.home.Until("the watcher answers", func() error {
		_, err := w.roster()
		return err
	})
	w.tail = start(w.t, w.command(context.WithoutCancel(w.t.Context()), "tail", "--from", "1"))
}

// kill ends the watcher as kill -9 does.
func (w *watcher) kill() {
	w.t.Helper()
	w.run.kill()
	w.tail.kill()
}

func (w *watcher) end() {
	if w.tail != nil {
		w.tail.kill()
	}
	if w.run == nil {
		return
	}
	if err := w.run.interrupt(); err != nil {
		w.t.Errorf("interrupted, the watcher answers %v", err)
	}
	if w.t.Failed() {
		w.t.Logf("the watcher's own log:\n%s", w.run.stderr.String())
	}
}

// call gives the peer of that pid a name in the story.
func (w *watcher) call(name string, pid int) { w.names[pid] = name }

// log is what has been published so far.
func (w *watcher) log() ([]events.Last, error) { return decodeLines(w.tail.stdout.Bytes()) }

// decodeLines reads events, one a line. Lines of live peers are passed over, and so is a last one without its end.
func decodeLines(data []byte) ([]events.Last, error) {
	var log []events.Last
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var head struct {
			Seq  uint64 `json:"seq"`
			Type string `json:"type"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.Seq == 0 {
			return nil, fmt.Errorf("no line with a sequence: %s: %w", line, err)
		}
		if head.Type == "" {
			continue
		}
		e, err := events.Decode(line)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		log = append(log, events.Last{Seq: head.Seq, Event: e})
	}
	return log, nil
}

// tells waits until the story goes on with these lines, and with no others.
func (w *watcher) tells(want ...string) {
	w.t.Helper()
	w.goesOn(func(got []string) error {
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			return fmt.Errorf("the story (-want +got):\n%s", d)
		}
		return nil
	})
}

// tellsLike waits until all that the story goes on with, each line with its end, is like the pattern. It is for what
// passes too fast for anyone to have to see it, and is asked after [watcher.agrees]: else more may be to come.
func (w *watcher) tellsLike(pattern string) {
	w.t.Helper()
	re := regexp.MustCompile(`^(?:` + pattern + `)$`)
	w.goesOn(func(got []string) error {
		if !re.MatchString(strings.Join(append(got, ""), "\n")) {
			return fmt.Errorf("the story: %q, want it like %q", got, pattern)
		}
		return nil
	})
}

// goesOn waits until what the story tells since the last time is as check wants it.
func (w *watcher) goesOn(check func(got []string) error) {
	w.t.Helper()
	w.home.Until("the watcher tells", func() error {
		log, err := w.log()
		if err != nil {
			return err
		}
		if len(log) == 0 || log[len(log)-1].Seq < w.reached {
			return fmt.Errorf("%d events, want all up to %d", len(log), w.reached)
		}
		story := w.story(log)
		if err := check(story[w.told:]); err != nil {
			return err
		}
		w.told, w.reached = len(story), log[len(log)-1].Seq
		return nil
	})
}

// closes is the end of a story.
func (w *watcher) closes() {
	if w.t.Failed() || w.tail == nil {
		return
	}
	w.tells()
	log, err := w.log()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range audit.Audit(log) {
		w.t.Error(p)
	}
	w.home.Until("run has printed what was published", func() error {
		printed, err := decodeLines(w.run.stdout.Bytes())
		if err != nil {
			return err
		}
		if d := cmp.Diff(sinceStart(log), sinceStart(printed)); d != "" {
			return fmt.Errorf("the events (-published +printed):\n%s", d)
		}
		return nil
	})
}

// sinceStart are the sequences of what has happened since the watcher started. Peers that have appeared are left out:
// those that were found at the start are printed as peers that are there.
func sinceStart(log []events.Last) []uint64 {
	var seqs []uint64
	for _, l := range log {
		switch e := l.Event.(type) {
		case events.WatchResumed:
			if e.Why == events.Start {
				seqs = nil
			}
		case events.PeerAppeared:
			continue
		}
		seqs = append(seqs, l.Seq)
	}
	return seqs
}
