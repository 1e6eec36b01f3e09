package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// line is a line of /proc/<pid>/stat with the command comm.
func line(comm string, s stat) string {
	return fmt.Sprintf("77 (%s) %c 1 77 77 0 -1 4194304 95 0 0 0 0 0 0 0 20 0 %d 0 %d 5652480 264 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 %d 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		comm, s.state, s.threads, s.start, s.exit)
}

// A program may call itself what it likes: it does not move the fields behind its name.
func TestStatBehindAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := stat{
			state:   rapid.SampledFrom([]byte("RSDZTtXxKWPI")).Draw(t, "state"),
			threads: rapid.IntRange(0, 1<<20).Draw(t, "threads"),
			exit:    rapid.IntRange(-1, 64).Draw(t, "exit"),
			start:   rapid.Uint64().Draw(t, "start"),
		}
		comm := rapid.SampledFrom([]string{"sleep", "", "x) Z 1\n2 (", ") Z 0 0 (", "))))", "a b c", "(sd-pam)", "\x00\xff"}).Draw(t, "comm")
		got, err := parseStat([]byte(line(comm, want)))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestStatThatIsNone(t *testing.T) {
	whole := line("sleep", stat{state: 'S', threads: 1, exit: 17, start: 31702})
	for name, in := range map[string]string{
		"empty":           "",
		"no name":         strings.NewReplacer("(", "", ")", "").Replace(whole),
		"nothing behind":  "77 (sleep)",
		"two states":      strings.Replace(whole, " S ", " SS ", 1),
		"no start":        whole[:strings.Index(whole, " 31702")],
		"start in words":  strings.Replace(whole, "31702", "soon", 1),
		"start below 0":   strings.Replace(whole, "31702", "-1", 1),
		"start too large": strings.Replace(whole, "31702", "18446744073709551616", 1),
	} {
		if got, err := parseStat([]byte(in)); !errors.Is(err, errStat) {
			t.Errorf("%s: got %+v, %v; want %v", name, got, err, errStat)
		}
	}
}

func TestStatsThatAreOver(t *testing.T) {
	for name, tc := range map[string]struct {
		s             stat
		ended, thread bool
	}{
		"runs":                       {stat{state: 'R', threads: 1, exit: 17}, false, false},
		"zombie":                     {stat{state: 'Z', threads: 1, exit: 17}, true, false},
		"being reaped":               {stat{state: 'X', threads: 0, exit: 17}, true, false},
		"first thread ended, one is": {stat{state: 'Z', threads: 2, exit: 17}, false, false},
		"a thread":                   {stat{state: 'S', threads: 5, exit: -1}, false, true},
		"its parent wants no signal": {stat{state: 'S', threads: 1, exit: 0}, false, false},
	} {
		if tc.s.ended() != tc.ended || tc.s.thread() != tc.thread {
			t.Errorf("%s: ended %v, thread %v; want %v, %v", name, tc.s.ended(), tc.s.thread(), tc.ended, tc.thread)
		}
	}
}

func TestCommTrap(t *testing.T) {
	const trap = "x) Z 1\n2 ("
	path := filepath.Join(t.TempDir(), trap)
	if err := os.Symlink(self(t), path); err != nil {
		t.Fatal(err)
	}
	c := spawn(t, "wait", exec.Command(path))
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.id.PID))
	if err != nil {
		t.Fatal(err)
	}
	fields, ok := strings.CutPrefix(string(raw), fmt.Sprintf("%d (%s) ", c.id.PID, trap))
	if !ok {
		t.Fatalf("the trap is not set: %q", raw)
	}
	for name, k := range kernels() {
		s := k.look(c.id.PID)
		if want := strings.Fields(fields)[fieldStart-fieldState]; s.Verdict != Alive || s.Start != want {
			t.Errorf("%s: saw %+v, want alive since %s", name, s, want)
		}
	}
}

func TestReadStatOfNobody(t *testing.T) {
	c := waiter(t)
	c.kill(t)
	if s, err := readStat(c.id.PID); err != unix.ENOENT {
		t.Errorf("read %+v, %v; want ENOENT", s, err)
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte(line("sleep", stat{state: 'S', threads: 1, exit: 17, start: 31702})))
	f.Add([]byte(line("x) Z 1\n2 (", stat{state: 'Z', threads: 2, exit: -1, start: 1})))
	f.Add([]byte(") S"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := parseStat(in)
		if err != nil {
			if got != (stat{}) {
				t.Fatalf("%+v beside %v", got, err)
			}
			return
		}
		// Only what stands behind the last parenthesis counts.
		again, err := parseStat(in[bytes.LastIndexByte(in, ')'):])
		if d := cmp.Diff(got, again, cmp.AllowUnexported(stat{})); err != nil || d != "" {
			t.Fatalf("the name before it matters: %v\n%s", err, d)
		}
	})
}
