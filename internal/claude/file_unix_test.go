//go:build unix

package claude

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOddFilesEachHaveTheirReason(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(path string) error
		want error
	}{
		"FIFO":   {func(path string) error { return unix.Mkfifo(path, 0o600) }, errFIFO},
		"folder": {func(path string) error { return os.Mkdir(path, 0o700) }, errFolder},
		"symlink": {func(path string) error {
			if err := os.WriteFile(path+".target", []byte(`{"pid":12,"sessionId":"s"}`), 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".target", path)
		}, errSymlink},
		"symlink to itself": {func(path string) error { return os.Symlink(path, path) }, errSymlink},
		"socket": {func(path string) error {
			l, err := net.Listen("unix", path)
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			return nil
		}, errSocket},
		"sparse 1 TiB": {func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		}, errTooBig},
		"1 MiB":   {func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) }, errTooBig},
		"missing": {func(string) error { return nil }, os.ErrNotExist},
		"whole":   {func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, nil},
		"64 KiB":  {func(path string) error { return os.WriteFile(path, make([]byte, maxFile), 0o600) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tc.make(filepath.Join(dir, "12.json")); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, dir, "12.json", tc.want)
		})
	}
	t.Run("device", func(t *testing.T) { wantRefused(t, "/dev", "null", errDevice) })
	t.Run("foreign owner", func(t *testing.T) {
		if os.Geteuid() != 0 {
			wantRefused(t, "/etc", "passwd", errForeign)
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "12.json")
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, dir, "12.json", errForeign)
	})
}

// wantRefused holds both the look from outside and the one at the open file to the answer.
func wantRefused(t *testing.T, dir, name string, want error) {
	t.Helper()
	d, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if _, err := d.stat(name); !errors.Is(err, want) {
		t.Errorf("stat: %v, want %v", err, want)
	}
	_, _, err = d.read(name, make([]byte, maxFile+1))
	switch {
	case want == errSymlink && errors.Is(err, unix.ELOOP), want == errSocket && errors.Is(err, unix.ENXIO):
	case want == errSocket && errors.Is(err, unix.EOPNOTSUPP): // macOS
	case !errors.Is(err, want):
		t.Errorf("read: %v, want %v", err, want)
	}
}

func TestWeirdRecordsBesideAGoodOne(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("good"))
	content := func(data string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(data), 0o644) }
	}
	const session = `"sessionId":"weird","status":"idle"`
	for name, tc := range map[string]struct {
		make func(path string) error
		says string
	}{
		"20.json":              {content(`{"pid":0,` + session + `}`), "no valid pid: 0"},
		"21.json":              {content(`{"pid":1,` + session + `}`), "no valid pid: 1"},
		"22.json":              {content(`{"pid":-1,` + session + `}`), "no valid pid: -1"},
		"4294967295.json":      {content(`{"pid":4294967295,` + session + `}`), "is named for a pid that cannot be"},
		"23.json":              {content(`{"pid":4294967319,` + session + `}`), "no valid pid: 4294967319"},
		"24.json":              {content(`{"pid":"24",` + session + `}`), "no valid pid: pid is no whole number"},
		"25.json":              {content(`{"pid":25.0,` + session + `}`), "no valid pid: pid is no whole number"},
		"26.json":              {content(`{"pid":null,` + session + `}`), "no valid pid"},
		"27.json":              {content(`{"pid":` + strings.TrimSuffix(fileName(p.pid), ".json") + `,` + session + `}`), "names another pid than its file"},
		"28.json":              {content(`{"pid":28,"pid":28,` + session + `}`), "no valid pid: pid is there twice"},
		"29.json":              {content("\x00\x00"), "not one whole JSON object"},
		"30.json":              {content("{\"pid\":30,\"sessionId\":\"\xff\"}"), "no valid sessionId: sessionId is not valid UTF-8"},
		"31.json":              {content(strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)), "not one whole JSON object"},
		"32.json":              {content(strings.Repeat(" ", 1<<20)), "is larger than 64 KiB"},
		"33.json":              {func(path string) error { return unix.Mkfifo(path, 0o600) }, "is a FIFO"},
		"34.json":              {func(path string) error { return os.Mkdir(path, 0o700) }, "is a folder"},
		"35.json":              {func(path string) error { return os.Symlink(w.file(p.pid), path) }, "is a symbolic link"},
		"0.json":               {content(`{}`), "is not named <pid>.json"},
		"pid-12.json":          {content(`{}`), "is not named <pid>.json"},
		"\x1b[2J\n\u202e.json": {content(`{}`), `\x1b[2J\n\u202e.json" is not named`},
	} {
		w.must(tc.make(filepath.Join(w.folder(), name)))
		w.read()
		w.holds("good")
		w.says("claude record", tc.says)
		for line := range strings.Lines(w.facts()) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < ' ' || r == '\u202e' }) {
				t.Errorf("a terminal would obey %q", line)
			}
		}
	}
	w.read()
	w.holds("good")
	w.went()
}

func TestARecordThatBecomesOddKeepsItsPeer(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	for name, spoil := range map[string]func() error{
		"FIFO":    func() error { return unix.Mkfifo(w.file(p.pid), 0o600) },
		"folder":  func() error { return os.Mkdir(w.file(p.pid), 0o700) },
		"symlink": func() error { return os.Symlink("/dev/zero", w.file(p.pid)) },
		"other":   func() error { return os.WriteFile(w.file(p.pid), []byte(`{"pid":12,"sessionId":"s"}`), 0o600) },
	} {
		w.must(os.RemoveAll(w.file(p.pid)))
		w.must(spoil())
		w.read()
		w.skew += time.Minute
		w.read()
		w.holds("s")
		if len(w.again) > 0 {
			t.Errorf("%s: asks for %v, though nothing is torn", name, w.again)
		}
	}
	p.end()
	w.read()
	w.holds()
}
