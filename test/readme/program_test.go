//go:build unix

package readme

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The program is built as a package of this module that is in no folder.
func TestProgramFollows(t *testing.T) {
	w := watched(t)
	cmd := exec.Command(program(t))
	cmd.Env = append(w.env, "PEERBUS_URL="+w.url(t))
	follower := start(t, cmd)
	follower.prints(`^proj-93 is there: idle$`)
	w.session.is("waiting", "permission prompt")
	follower.prints(`^proj-93 idle → waiting permission prompt$`)
	w.session.process.stops(syscall.SIGKILL, -1)
	follower.prints(`^proj-93 is gone: died$`)
}

// program builds it, and returns its path.
func program(t *testing.T) string {
	t.Helper()
	source := only(t, "go")
	formatted, err := format.Source([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(formatted), source); d != "" {
		t.Errorf("the program is not formatted (-formatted +README):\n%s", d)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "test/readme/program"
	at, err := filepath.Abs(filepath.Join(root, name, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {at: file}})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "program")
	goCommand(t, nil, "build", "-overlay", overlayFile, "-o", built, "./"+name)
	return built
}
