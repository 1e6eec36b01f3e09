package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// entry is all of a file that a write would change.
type entry struct {
	Mode fs.FileMode
	Time time.Time
	data string
}

func (e entry) Equal(o entry) bool {
	return e.Mode == o.Mode && e.Time.Equal(o.Time) && e.data == o.data
}

// tree is what there is at and under path, by the path relative to it.
func tree(t *testing.T, path string) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := entry{Mode: info.Mode(), Time: info.ModTime()}
		if !e.IsDir() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			f.data = string(data)
		}
		rel, err := filepath.Rel(path, name)
		found[rel] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// oneLine checks that an error can be shown to a person as it is.
func oneLine(t *testing.T, err error, about string) {
	t.Helper()
	if err == nil {
		return // the caller has said what it wants
	}
	if s := err.Error(); strings.ContainsAny(s, "\r\n") || !strings.Contains(s, about) {
		t.Errorf("the error is not one line about %s: %q", about, s)
	}
}
