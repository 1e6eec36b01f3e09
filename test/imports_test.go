package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// pkg is what `go list` tells of one package, without its tests.
type pkg struct {
	ImportPath, Name string
	Imports, Deps    []string
}

const (
	module     = "peerbus/"
	natsAny    = "github.com/nats-io/..."
	natsServer = "github.com/nats-io/nats-server/..."
	runGroup   = "github.com/oklog/run"
	thirdParty = "third party" // stands for all that is neither ours nor the standard library's
)

// rule forbids packages to depend on others, by themselves or through others. Patterns are as those of the go command.
type rule struct {
	of     []string // the packages that it binds
	except []string // of these, who is free
	never  []string // what they must not depend on
	but    []string // of these, what they may
	why    string
}

var rules = []rule{
	{
		of: ours("events"), never: []string{thirdParty, module + "..."},
		why: "it is what subscribers of any program import: words, no machinery",
	},
	{
		of:    ours("reconcile", "occupancy"),
		never: []string{"os/exec", "github.com/fsnotify/fsnotify", natsAny, thirdParty, module + "..."}, but: ours("events"),
		why: "they decide from what they are handed, so that every decision can be tested without a world",
	},
	{
		of: ours("courier"), never: []string{natsAny},
		why: "a delivery is a child process and its end; who asked for it and who hears of it is wired in cmd",
	},
	{
		of: ours("..."), except: ours("cmd/watcher/...", "test/...", "embedded/..."), never: ours("embedded"),
		why: "one program alone starts the server; all others are its clients",
	},
	{
		of: ours("events/...", "courier/...", "internal/bus", "cmd/mailer"), never: []string{natsServer},
		why: "who only speaks to the bus does not carry a server with it",
	},
	{
		of: ours("..."), except: ours("cmd/...", "test/..."), never: ours("cmd/...", "test/..."),
		why: "imports run from the commands down",
	},
}

// there are the packages without which the rules would hold of nothing.
var there = ours("cmd/watcher", "occupancy", "embedded", "events", "events/follow", "internal/bus", "internal/claude", "internal/codex", "internal/proc",
	"internal/state", "reconcile")

func TestPackagesAreThere(t *testing.T) {
	var paths []string
	for _, p := range list(t, "linux") {
		paths = append(paths, p.ImportPath)
	}
	for _, want := range there {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not there", want)
		}
	}
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			pkgs := list(t, goos)
			for _, r := range rules {
				for _, b := range r.breaches(pkgs) {
					t.Errorf("%s: %s", b, r.why)
				}
			}
			for _, p := range pkgs {
				if p.Name != "main" && slices.Contains(p.Imports, runGroup) {
					t.Errorf("%s imports %s: only main starts what runs side by side; all else blocks and takes a context", p.ImportPath, runGroup)
				}
			}
		})
	}
}

func TestPackagesAreNamedForWhatTheyAre(t *testing.T) {
	for _, p := range list(t, "linux") {
		for _, name := range []string{p.Name, path.Base(p.ImportPath)} {
			switch name {
			case "util", "utils", "common", "types", "config", "mock", "mocks", "helper", "helpers":
				t.Errorf("%s is named %s: such a name says nothing of what is in it", p.ImportPath, name)
			}
		}
	}
}

// A rule that finds nothing where there is something would be no rule.
func TestRulesFindBreaches(t *testing.T) {
	pkgs := []pkg{
		{ImportPath: "peerbus/events", Deps: []string{"fmt", "vendor/golang.org/x/text", "example.org/x", "peerbus/internal/proc"}},
		{ImportPath: "peerbus/events/follow", Deps: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2/server"}},
		{ImportPath: "peerbus/reconcile", Deps: []string{"peerbus/events", "os/exec"}},
		{ImportPath: "peerbus/courier", Deps: []string{"os/exec", "github.com/nats-io/nats.go"}},
		{ImportPath: "peerbus/internal/bus", Deps: []string{"peerbus/embedded", "peerbus/cmd/watcher/top"}},
		{ImportPath: "peerbus/cmd/watcher", Deps: []string{"peerbus/embedded", "peerbus/cmd/watcher/top"}},
	}
	want := [][]string{
		{"peerbus/events depends on example.org/x", "peerbus/events depends on peerbus/internal/proc"},
		{"peerbus/reconcile depends on os/exec"},
		{"peerbus/courier depends on github.com/nats-io/nats.go"},
		{"peerbus/internal/bus depends on peerbus/embedded"},
		{"peerbus/events/follow depends on github.com/nats-io/nats-server/v2/server"},
		{"peerbus/internal/bus depends on peerbus/cmd/watcher/top"},
	}
	for i, r := range rules {
		if got := r.breaches(pkgs); !slices.Equal(got, want[i]) {
			t.Errorf("%s:\n got %q\nwant %q", r.why, got, want[i])
		}
	}
}

func (r rule) breaches(pkgs []pkg) []string {
	var out []string
	for _, p := range pkgs {
		if !matchesAny(r.of, p.ImportPath) || matchesAny(r.except, p.ImportPath) {
			continue
		}
		for _, dep := range p.Deps {
			if matchesAny(r.never, dep) && !matchesAny(r.but, dep) {
				out = append(out, p.ImportPath+" depends on "+dep)
			}
		}
	}
	return out
}

func matchesAny(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == thirdParty {
			first, _, _ := strings.Cut(importPath, "/")
			return strings.Contains(first, ".")
		}
		parent, tree := strings.CutSuffix(pattern, "/...")
		return importPath == parent || tree && strings.HasPrefix(importPath, parent+"/")
	})
}

func ours(patterns ...string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = module + p
	}
	return out
}

// list is the module's packages as built for goos.
func list(t *testing.T, goos string) []pkg {
	t.Helper()
	return goList[pkg](t, []string{"GOOS=" + goos, "CGO_ENABLED=0"}, "-json=ImportPath,Name,Imports,Deps", "./...")
}

// goList runs `go list` in the module's root and decodes the objects that it prints.
func goList[T any](t *testing.T, env []string, args ...string) []T {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = "..", append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var found []T
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found = append(found, v)
	}
}
