package test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is how long a Go file may be; what is longer has more than one subject.
const maxLines = 400

// maxText is what a file that people read does not exceed, in bytes. What is larger was built here.
const maxText = 1 << 20

// unwanted is what no file here may hold, each with the reason. The words are put together so that this file may stand.
var unwanted = map[string]string{
	"TO" + "DO":      "what is left open is told where work is planned",
	"FIX" + "ME":     "what is broken is mended",
	"/wo" + "rk/":    "a path of one machine means nothing on another",
	"../sha" + "red": "what the repository needs is in the repository",
}

func TestFiles(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".ci" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(data) > maxText {
			return nil
		}
		files++
		for word, why := range unwanted {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s holds %q: %s", name, word, why)
			}
		}
		if lines := bytes.Count(data, []byte("\n")); filepath.Ext(name) == ".go" && lines > maxLines {
			t.Errorf("%s has %d lines, more than %d", name, lines, maxLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < len(there) {
		t.Errorf("looked at %d files only", files)
	}
}
