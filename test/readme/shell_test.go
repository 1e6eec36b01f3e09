//go:build unix

package readme

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tries are what is done with each line of a shell, without its comment. Every line has one, and every one its line.
var tries = map[string]func(t *testing.T, w *world, line string){
	"go run ./cmd/watcher":        tryGoRun,
	"go test ./...":               func(*testing.T, *world, string) {}, // it runs this test
	"watcher ls":                  ends(`^proj-93 +idle +[0-9]+s +claude +[0-9]+ +25c49259 +/home/u/proj$`),
	"watcher ls --status waiting": tryWaiting,
	"watcher tail":                tryTail,
	"watcher tail --since 1h":     tryTailSince,
	"watcher why proj-93":         ends(`^proj-93 is alive: `),
	"watcher doctor":              tryDoctor,
	"watcher nats-context":        tryContext,

	"watcher occupied claude 25c49259-5cd0-4744-a158-5d764d50082a": tryOccupied,

	"watcher policy":          ends(`^value +default$`),
	"watcher policy set hold": ends(`^value +hold$`),

	"nats --context peerbus-observer sub 'peers.v1.>'":                             trySub,
	`nats --context peerbus-observer req "watcher.v1.$HOST.snapshot" '{"page":0}'`: tryRequest,
}

// comment is the end of a line that the shell does not read. No line here has a # within quotes.
var comment = regexp.MustCompile(`(^|\s+)#.*$`)

func TestEveryLineOfShellDoesWhatIsSaid(t *testing.T) {
	w := watched(t)
	tried := map[string]bool{}
	for _, block := range blocks(t, "sh") {
		for line := range strings.Lines(block) {
			line = comment.ReplaceAllString(strings.TrimSpace(line), "")
			if line == "" {
				continue
			}
			try, ok := tries[line]
			if !ok {
				t.Errorf("not tried: %s", line)
				continue
			}
			tried[line] = true
			t.Run(line, func(t *testing.T) { try(t, w, line) })
		}
	}
	for line := range tries {
		if !tried[line] {
			t.Errorf("not in README.md any more: %s", line)
		}
	}
}

// ends tries a line that ends well and prints a line that matches.
func ends(pattern string) func(*testing.T, *world, string) {
	return func(t *testing.T, w *world, line string) {
		w.session.is("idle", "")
		until(t, "ls shows it", func() error { return w.shows(t, "watcher ls", "^proj-93 +idle ") })
		if err := w.run(t, line).ends(0).printed(pattern); err != nil {
			t.Error(err)
		}
	}
}

// shows answers nil when a line that ends well prints a line that matches.
func (w *world) shows(t *testing.T, line, pattern string) error {
	t.Helper()
	return w.run(t, line).ends(0).printed(pattern)
}

// tryGoRun is for a home of its own, since one watcher runs in a state folder.
func tryGoRun(t *testing.T, _ *world, line string) {
	w := newWorld(t)
	// The go command's telemetry would write into the home at any time, by a process of its own.
	w.run(t, "go telemetry off").ends(0)
	run := w.run(t, line)
	run.prints("^NAME +STATUS ").prints("^proj-93 +idle ")
	w.happens(t, "it prints what happens", func() error { return run.printed(`^[0-9:]{8}  proj-93 +busy$`) })
	// The go command's own exit code after ^C is 1 whatever the program's is; one that is not 0 it prints.
	run.signal(syscall.SIGINT)
	run.code(patience)
	if text := run.err.String(); text != "" {
		t.Errorf("after ^C: %s", text)
	}
}

// tryWaiting compares with the table that the README shows, but for numbers and widths.
func tryWaiting(t *testing.T, w *world, line string) {
	w.session.is("waiting", "permission prompt")
	until(t, "ls shows it", func() error { return w.shows(t, line, "^proj-93 ") })
	got := w.run(t, line).ends(0).out.String()
	want := table(t)
	if d := cmp.Diff(rows(want, "proj-93"), rows(got, "proj-93")); d != "" {
		t.Errorf("ls (-README +printed):\n%s", d)
	}
	w.session.is("idle", "")
	until(t, "ls does not show it", func() error { return w.shows(t, line, "^no live peers$") })
}

// table is the README's, of live peers.
func table(t *testing.T) string {
	t.Helper()
	for _, block := range blocks(t, "") {
		if strings.HasPrefix(block, "NAME ") {
			return block
		}
	}
	t.Fatal("no table of live peers")
	return ""
}

var number = regexp.MustCompile(`^[0-9]+([smhd]?)$`)

// rows are the words of a table's head and of the rows that begin with name, every number and age being 0.
func rows(table, name string) [][]string {
	var found [][]string
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "NAME" && words[0] != name {
			continue
		}
		for i := range words {
			words[i] = number.ReplaceAllString(words[i], "0")
		}
		found = append(found, words)
	}
	return found
}

func tryTail(t *testing.T, w *world, line string) {
	tail := w.run(t, line)
	w.happens(t, "tail prints it", func() error { return tail.printed(`^[0-9:]{8}  proj-93 +(busy|idle)$`) })
	tail.stops(syscall.SIGINT, 130)
	if strings.Contains(tail.out.String(), "appeared") {
		t.Errorf("it prints what was before:\n%s", &tail.out)
	}
}

func tryTailSince(t *testing.T, w *world, line string) {
	tail := w.run(t, line)
	tail.prints(`^[0-9:]{8}  proj-93 +appeared, idle in /home/u/proj$`)
	w.session.is("waiting", "a word of this test")
	tail.prints(`^[0-9:]{8}  proj-93 +waiting: a word of this test$`)
	tail.stops(syscall.SIGINT, 130)
}

// tryDoctor takes the machine as it is: something may be wrong with it, and is then marked.
func tryDoctor(t *testing.T, w *world, line string) {
	doctor := w.run(t, line)
	code := doctor.code(patience)
	for _, check := range []string{"version", "watcher", "bus", "sweep", "claude folder"} {
		if err := doctor.printed(`^[+-] ` + check + ` `); err != nil {
			t.Error(err)
		}
	}
	if wrong := doctor.printed("^- ") == nil; code != 0 && code != 1 || wrong != (code == 1) {
		t.Errorf("exit code %d:\n%s%s", code, &doctor.out, &doctor.err)
	}
}

// tryOccupied is for the session that runs, whose socket is not there: that it lives is enough not to attach.
func tryOccupied(t *testing.T, w *world, line string) {
	if err := w.run(t, line).ends(1).printed("not attachable"); err != nil {
		t.Error(err)
	}
}
