package claude

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// desk is a home with settings in it.
type office struct {
	testing.TB
	*Settings
}

func newOffice(t testing.TB, text string) office {
	t.Helper()
	o := office{t, NewSettings(t.TempDir())}
	o.settle = time.Millisecond
	if text != "" {
		o.write(text)
	}
	return o
}

func (o office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o office) write(text string) {
	o.Helper()
	o.must(os.WriteFile(o.path(), []byte(text), 0o600))
}

func (o office) text() string {
	o.Helper()
	data, err := os.ReadFile(o.path())
	o.must(err)
	return string(data)
}

// tidy fails the test if anything but the settings is in the home.
func (o office) tidy() {
	o.Helper()
	entries, err := os.ReadDir(o.home)
	o.must(err)
	for _, e := range entries {
		if e.Name() != "settings.json" {
			o.Errorf("%s is left in the home", e.Name())
		}
	}
}

func (o office) set(policy string) Policy {
	o.Helper()
	p, err := o.Set(o.Context(), policy, "")
	o.must(err)
	return p
}

const someSettings = "{\n  \"model\": \"opus\",\n  \"n\": 9007199254740993,\n  \"crossSessionInbound\": \"hold\"\n}\n"

func TestPolicyGetAndSet(t *testing.T) {
	o := newOffice(t, someSettings)
	p, err := o.Policy(t.Context())
	o.must(err)
	if p.Value != "hold" || p.Path != filepath.Join(o.home, "settings.json") || !strings.HasPrefix(p.Effective, "unknown: ") || p.Revision == "" {
		t.Errorf("policy %+v", p)
	}
	set := o.set("refuse")
	if set.Value != "refuse" || set.Revision == p.Revision {
		t.Errorf("policy %+v", set)
	}
	if d := cmp.Diff(strings.Replace(someSettings, "hold", "refuse", 1), o.text()); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
	if p := o.set(DefaultPolicy); p.Value != DefaultPolicy {
		t.Errorf("policy %+v", p)
	}
	if d := cmp.Diff("{\n  \"model\": \"opus\",\n  \"n\": 9007199254740993\n}\n", o.text()); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
	o.set("hold")
	if d := cmp.Diff(someSettings, o.text()); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
	if back, err := o.Policy(t.Context()); back != p || err != nil {
		t.Errorf("the same content: %+v, %v, want %+v", back, err, p)
	}
	o.tidy()
}

func TestPolicySetRefusesOtherWords(t *testing.T) {
	o := newOffice(t, someSettings)
	for _, word := range []string{"", "Accept", "deny", `accept","x":"y`} {
		if p, err := o.Set(t.Context(), word, ""); err == nil {
			t.Errorf("%q: %+v", word, p)
		}
	}
	if o.text() != someSettings {
		t.Errorf("settings %s", o.text())
	}
}

func TestPolicyRevision(t *testing.T) {
	o := newOffice(t, someSettings)
	p, err := o.Policy(t.Context())
	o.must(err)
	if _, err := o.Set(t.Context(), "accept", p.Revision[1:]+"0"); !errors.Is(err, ErrRevision) || !strings.Contains(err.Error(), p.Revision) {
		t.Errorf("another revision: %v", err)
	}
	if o.text() != someSettings {
		t.Errorf("settings %s", o.text())
	}
	set, err := o.Set(t.Context(), "accept", p.Revision)
	o.must(err)
	if _, err := o.Set(t.Context(), "refuse", p.Revision); !errors.Is(err, ErrRevision) {
		t.Errorf("the revision before: %v", err)
	}
	_, err = o.Set(t.Context(), "refuse", set.Revision)
	o.must(err)
}

func TestPolicyWhereThereAreNoSettings(t *testing.T) {
	o := newOffice(t, "")
	p, err := o.Policy(t.Context())
	o.must(err)
	if p.Value != DefaultPolicy || p.Revision != NoRevision {
		t.Errorf("policy %+v", p)
	}
	o.set(DefaultPolicy)
	if _, err := os.Lstat(o.path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("settings were made: %v", err)
	}
	if _, err := o.Set(t.Context(), "hold", "0123"); !errors.Is(err, ErrRevision) {
		t.Errorf("another revision: %v", err)
	}
	if p, err := o.Set(t.Context(), "hold", NoRevision); err != nil || p.Value != "hold" {
		t.Errorf("policy %+v, %v", p, err)
	}
	if d := cmp.Diff("{\n  \"crossSessionInbound\": \"hold\"\n}\n", o.text()); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
	o.tidy()

	nowhere := NewSettings(filepath.Join(o.home, "none"))
	if _, err := nowhere.Set(t.Context(), "hold", ""); !errors.Is(err, ErrNotSettings) {
		t.Errorf("no home: %v", err)
	}
	if _, err := os.Lstat(nowhere.home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a home was made: %v", err)
	}
}

// TestPolicyLeavesAlone has the settings that are neither read nor changed, each with its reason.
func TestPolicyLeavesAlone(t *testing.T) {
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	for name, tc := range map[string]struct {
		make func(o office)
		says string
	}{
		"a symbolic link": {func(o office) {
			o.must(os.WriteFile(target, []byte(someSettings), 0o600))
			o.must(os.Symlink(target, o.path()))
		}, "is a symbolic link to " + target},
		"a folder":      {func(o office) { o.must(os.Mkdir(o.path(), 0o700)) }, "is no regular file"},
		"comments":      {func(o office) { o.write("{\n  // hold my mail\n  \"crossSessionInbound\": \"hold\"\n}") }, "has comments"},
		"the key twice": {func(o office) { o.write(`{"crossSessionInbound":"hold","crossSessionInbound":"accept"}`) }, "has the setting twice"},
		"over 1 MiB":    {func(o office) { o.write(someSettings + strings.Repeat(" ", maxSettings)) }, "is larger than 1 MiB"},
		"no JSON":       {func(o office) { o.write("crossSessionInbound: hold\n") }, "is not JSON"},
		"cut off":       {func(o office) { o.write(someSettings[:20]) }, "is not JSON"},
		"no object":     {func(o office) { o.write("[]") }, "is not one JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, "")
			tc.make(o)
			before, err := os.Lstat(o.path())
			o.must(err)
			_, err = o.Policy(t.Context())
			wantLeftAlone(t, err, tc.says)
			_, err = o.Set(t.Context(), "accept", "")
			wantLeftAlone(t, err, tc.says)
			after, err := os.Lstat(o.path())
			o.must(err)
			if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
				t.Error("it was touched")
			}
			o.tidy()
		})
	}
}

func wantLeftAlone(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, ErrNotSettings) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want one that says %q", err, says)
	}
}

// TestPolicyOfExactlyOneMiB has the largest settings that are taken, and that are made.
func TestPolicyOfExactlyOneMiB(t *testing.T) {
	o := newOffice(t, someSettings+strings.Repeat(" ", maxSettings-len(someSettings)))
	_, err := o.Set(t.Context(), "refuse", "")
	wantLeftAlone(t, err, "is larger than 1 MiB")
	o.tidy()
	if p := o.set(DefaultPolicy); p.Value != DefaultPolicy {
		t.Errorf("policy %+v", p)
	}
}

func TestPolicyOfAnotherKind(t *testing.T) {
	o := newOffice(t, `{"crossSessionInbound":{"from":"all"}}`)
	if p, err := o.Policy(t.Context()); err == nil {
		t.Errorf("policy %+v", p)
	}
	o.set("hold")
	o.write(`{"crossSessionInbound":"ask"}`)
	if p, err := o.Policy(t.Context()); p.Value != "ask" || err != nil {
		t.Errorf("a word of tomorrow: %+v, %v", p, err)
	}
}

// TestPolicyReadsTornSettingsAgain has the client in the middle of writing them.
func TestPolicyReadsTornSettingsAgain(t *testing.T) {
	o := newOffice(t, someSettings[:30])
	done := make(chan error, 1)
	time.AfterFunc(5*time.Millisecond, func() { done <- os.WriteFile(o.path(), []byte(someSettings), 0o600) })
	p, err := o.Policy(t.Context())
	o.must(<-done)
	if p.Value != "hold" || err != nil {
		t.Errorf("policy %+v, %v", p, err)
	}
}

// TestPolicyRivals has others write at the worst moments.
func TestPolicyRivals(t *testing.T) {
	const theirs = "{\n  \"model\": \"haiku\"\n}\n"
	rename := func(o office, text string) {
		temp := filepath.Join(o.TempDir(), "theirs")
		o.must(os.WriteFile(temp, []byte(text), 0o600))
		o.must(os.Rename(temp, o.path()))
	}
	for name, write := range map[string]func(o office, text string){"in place": office.write, "by renaming": rename} {
		t.Run("before it is replaced, "+name, func(t *testing.T) {
			o := newOffice(t, someSettings)
			o.replacing = func() { write(o, theirs) }
			p, err := o.Set(t.Context(), "accept", "")
			if !errors.Is(err, ErrRival) || o.text() != theirs {
				t.Errorf("%+v, %v, and the settings are %s", p, err, o.text())
			}
			o.tidy()
		})
		t.Run("where there was no file, "+name, func(t *testing.T) {
			o := newOffice(t, "")
			o.replacing = func() { write(o, theirs) }
			if p, err := o.Set(t.Context(), "accept", ""); !errors.Is(err, ErrRival) || o.text() != theirs {
				t.Errorf("%+v, %v, and the settings are %s", p, err, o.text())
			}
			o.tidy()
		})
	}
	t.Run("who takes it away", func(t *testing.T) {
		o := newOffice(t, someSettings)
		o.replacing = func() { o.must(os.Remove(o.path())) }
		if p, err := o.Set(t.Context(), "accept", ""); !errors.Is(err, ErrRival) {
			t.Errorf("%+v, %v", p, err)
		}
		o.tidy()
	})
	t.Run("who puts a link there", func(t *testing.T) {
		o := newOffice(t, someSettings)
		o.replacing = func() {
			o.must(os.Remove(o.path()))
			o.must(os.Symlink("elsewhere", o.path()))
		}
		if p, err := o.Set(t.Context(), "accept", ""); !errors.Is(err, ErrRival) {
			t.Errorf("%+v, %v", p, err)
		}
		if target, err := os.Readlink(o.path()); target != "elsewhere" {
			t.Errorf("the link is %q, %v", target, err)
		}
		o.tidy()
	})
	t.Run("who saves stale settings after it", func(t *testing.T) {
		o := newOffice(t, someSettings)
		o.settle = 200 * time.Millisecond
		saved := make(chan error, 1)
		o.replacing = func() {
			time.AfterFunc(50*time.Millisecond, func() { saved <- os.WriteFile(o.path(), []byte(someSettings), 0o600) })
		}
		p, err := o.Set(t.Context(), "accept", "")
		o.must(<-saved)
		if !errors.Is(err, ErrRival) || p.Value != "hold" {
			t.Errorf("%+v, %v", p, err)
		}
		o.tidy()
	})
	t.Run("who had it open and writes late", func(t *testing.T) {
		o := newOffice(t, someSettings)
		o.settle = 200 * time.Millisecond
		f, err := os.OpenFile(o.path(), os.O_RDWR, 0)
		o.must(err)
		saved := make(chan error, 1)
		o.replacing = func() {
			time.AfterFunc(50*time.Millisecond, func() {
				saved <- errors.Join(f.Truncate(0), writeAll(f, theirs), f.Close())
			})
		}
		p, err := o.Set(t.Context(), "accept", "")
		o.must(<-saved)
		if !errors.Is(err, ErrRival) || o.text() != theirs {
			t.Errorf("%+v, %v, and the settings are %s", p, err, o.text())
		}
		o.tidy()
	})
}

func writeAll(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func TestPolicyInterrupted(t *testing.T) {
	o := newOffice(t, someSettings)
	o.settle = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	o.replacing = cancel
	if _, err := o.Set(ctx, "accept", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	var now struct{ CrossSessionInbound string }
	o.must(json.Unmarshal([]byte(o.text()), &now))
	if now.CrossSessionInbound != "accept" {
		t.Errorf("settings %s", o.text())
	}
	o.tidy()
}
