package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the module's folder; tests run in that of their package.
const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// blocks are the texts of the fenced blocks in that language. There must be some.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for _, m := range fence.FindAllStringSubmatch(readme(t), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	if len(found) == 0 {
		t.Fatalf("no block in %q", language)
	}
	return found
}

// only is the text of the only block in that language.
func only(t *testing.T, language string) string {
	t.Helper()
	found := blocks(t, language)
	if len(found) > 1 {
		t.Fatalf("%d blocks in %q, which one is meant?", len(found), language)
	}
	return found[0]
}

// A block in a language that is not tested here would say what nobody has tried.
func TestBlocksAreOfKnownLanguages(t *testing.T) {
	for _, m := range fence.FindAllStringSubmatch(readme(t), -1) {
		if !slices.Contains([]string{"", "sh", "go", "json"}, m[1]) {
			t.Errorf("a block in %q:\n%s", m[1], m[2])
		}
	}
	if n := strings.Count(readme(t), "```"); n != 2*len(fence.FindAllString(readme(t), -1)) {
		t.Errorf("%d fences, which are not pairs", n)
	}
}

// says fails the test unless the README has that text, however its lines are broken.
func says(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(readme(t)), " "), text) {
		t.Errorf("README.md does not say any more: %s", text)
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)`)

func TestLinksLead(t *testing.T) {
	for _, m := range link.FindAllStringSubmatch(readme(t), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}

var packages = regexp.MustCompile(`(?s)\n\| package \| is \|\n(.*?)\n\n`)

func TestPackagesAreThere(t *testing.T) {
	table := packages.FindStringSubmatch(readme(t))
	if table == nil {
		t.Fatal("no table of packages")
	}
	for row := range strings.Lines(table[1]) {
		for _, name := range spans(strings.Split(row, "|")[1]) {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(name, "/…"))); err != nil {
				t.Error(err)
			}
		}
	}
}

var span = regexp.MustCompile("`([^`]+)`")

// spans are what stands between backticks.
func spans(text string) []string {
	var found []string
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}
