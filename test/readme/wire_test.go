package readme

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

// shown are the events of the README, by their types.
func shown(t *testing.T) map[string]events.Event {
	t.Helper()
	found := map[string]events.Event{}
	for lines := bufio.NewScanner(strings.NewReader(only(t, "json"))); lines.Scan(); {
		e, err := events.Decode(lines.Bytes())
		if err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		found[events.TypeOf(e)] = e
		again, err := events.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(lines.Text(), string(again)); d != "" {
			t.Errorf("%s (-README +encoded):\n%s", events.TypeOf(e), d)
		}
	}
	return found
}

func TestEveryEventIsShownAsItIsOnTheWire(t *testing.T) {
	var names []string
	for name := range shown(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	if d := cmp.Diff(eventTypes(t), names); d != "" {
		t.Errorf("events (-code +README):\n%s", d)
	}
}

var subjectRow = regexp.MustCompile("(?m)^\\| (… )?`((?:peers\\.v1)?\\.[^`]+)` \\| ([A-Za-z]+)")

// The table of subjects: "…" stands for the row before without its last token.
func TestTableOfSubjects(t *testing.T) {
	said := map[string]string{}
	before := ""
	for _, m := range subjectRow.FindAllStringSubmatch(readme(t), -1) {
		subject := m[2]
		if m[1] != "" {
			subject = before[:strings.LastIndexByte(before, '.')] + subject
		}
		before, said[m[3]] = subject, subject
	}
	got := map[string]string{}
	for name, e := range shown(t) {
		p, _ := events.PeerOf(e)
		got[name] = strings.NewReplacer(
			"<host>", events.Token(e.Head().Host), "<harness>", events.Token(p.Harness), "<session>", events.Token(p.Session),
			"<pid>", strconv.Itoa(p.PID), "<start>", events.Token(p.Start),
		).Replace(said[name])
	}
	want := map[string]string{}
	for name, e := range shown(t) {
		want[name] = e.Subject()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("subjects (-code +README):\n%s", d)
	}
	if len(said) != len(want) {
		t.Errorf("the table tells of %d events, not %d: %v", len(said), len(want), said)
	}
}

// The words of a closed set are told in the item that begins with its key.
func TestWordsOfTheWire(t *testing.T) {
	for key, kind := range map[string]string{"status": "Status", "reason": "Reason"} {
		item := regexp.MustCompile("(?ms)^- `" + key + "` is (.*?)[.;]\n?").FindStringSubmatch(readme(t))
		if item == nil {
			t.Errorf("no item tells what `%s` is", key)
			continue
		}
		for _, word := range constants(t, kind) {
			if !slices.Contains(spans(item[1]), word) {
				t.Errorf("`%s` may be %q, which is not in: %s", key, word, item[1])
			}
		}
	}
}

// declarations are those of package events.
func declarations(t *testing.T) []ast.Decl {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "events", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var found []ast.Decl
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f.Decls...)
	}
	return found
}

// eventTypes are the types that have a subject, sorted.
func eventTypes(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, d := range declarations(t) {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Subject" {
			found = append(found, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	slices.Sort(found)
	return found
}

// constants are the values of those of that type. There must be some.
func constants(t *testing.T, kind string) []string {
	t.Helper()
	var found []string
	for _, d := range declarations(t) {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if name, ok := v.Type.(*ast.Ident); !ok || name.Name != kind {
				continue
			}
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, text)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no constants of type %s", kind)
	}
	return found
}
