//go:build unix

package readme

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// goCommand runs the go command in the module's folder, with the environment of who runs the tests.
func goCommand(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	start(t, cmd).endsIn(building, 0)
}

// goEnv is how the go command finds in another home what it has already fetched and built.
func goEnv(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOSUMDB")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	var vars map[string]string
	if err := json.Unmarshal(out, &vars); err != nil {
		t.Fatal(err)
	}
	var env []string
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	return env
}

var installed bool

// watcher installs the watcher as the README says, once, and returns the folder that it is in. Tests run one after
// the other.
func watcher(t *testing.T) string {
	t.Helper()
	says(t, "`go install ./cmd/watcher` puts `watcher` on your path")
	if !installed {
		goCommand(t, []string{"GOBIN=" + programs}, "install", "./cmd/watcher")
		installed = true
	}
	return programs
}
