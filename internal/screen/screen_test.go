package screen

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"proj-93":               "proj-93",
		"weird:`name` %x":       "weird:`name` %x",
		"a\nb":                  `a\nb`,
		"\x1b[31mred\x1b]0;t\a": `\x1b[31mred\x1b]0;t\a`,
		"\u202egnp":             `\u202egnp`,
		"\x9b31m\xff":           `\x9b31m\xff`,
		"naïve 漢字 🙂":            "naïve 漢字 🙂",
		"":                      "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[2J\x00\xc3(")
	f.Fuzz(func(t *testing.T, in string) {
		got := Clean(in)
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("Clean(%q) = %q has %U", in, got, r)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", in, got)
		}
		if again := Clean(got); again != got {
			t.Fatalf("cleaned twice: %q, then %q", got, again)
		}
	})
}

func TestCleanJSONKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\x1b\n\u007f\u009b\u202e\u2028\U000e0001")))).Draw(t, "text")
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		clean := CleanJSON(data)
		if bytes.ContainsFunc(clean, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("not printable: %q", clean)
		}
		var got string
		if err := json.Unmarshal(clean, &got); err != nil || got != want {
			t.Fatalf("%q became %q: %v", want, got, err)
		}
	})
}

func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := []Column{{Title: "STATUS"}, {Title: "NAME", Most: 24}, {Title: "PID"}, {Title: "FOLDER"}}
		rows := rapid.SliceOf(rapid.Custom(func(t *rapid.T) []Cell {
			row := make([]Cell, len(columns))
			for i := range row {
				row[i] = Cell{rapid.String().Draw(t, "text"), Good}
			}
			return row
		})).Draw(t, "rows")
		var b bytes.Buffer
		if err := New(&b).Table(columns, rows); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for _, l := range lines {
			if w := runewidth.StringWidth(l); w > fallback {
				t.Fatalf("a line of %d columns: %q", w, l)
			}
			if strings.ContainsFunc(l, unicode.IsControl) {
				t.Fatalf("a control character in %q", l)
			}
		}
	})
}

func TestNoColorsWhereThereIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if got := New(w).Paint(Bad, "text"); got != "text" {
		t.Errorf("on a pipe: %q", got)
	}
	s := &Screen{Writer: w, color: true}
	if got := s.Paint(Bad, "text"); got != "\x1b[31mtext\x1b[0m" {
		t.Errorf("in color: %q", got)
	}
}
