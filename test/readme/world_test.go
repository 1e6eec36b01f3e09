//go:build unix

package readme

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"peerbus/events"
)

// world is a user's home with a session in it, and an environment that has nothing of the real user's but where
// programs and the go command's caches are.
type world struct {
	t       *testing.T
	home    string
	state   string
	env     []string
	session *session
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state")}
	for _, sub := range []string{filepath.Join(w.claude(), "sessions"), w.config(), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append([]string{
		"HOME=" + w.home, "XDG_CONFIG_HOME=" + w.config(), "TMPDIR=" + filepath.Join(dir, "tmp"), "PEERBUS_STATE=" + w.state,
		"PATH=" + strings.Join([]string{watcher(t), natsCLI(), os.Getenv("PATH")}, string(filepath.ListSeparator)),
		"LANG=C.UTF-8",
	}, goEnv(t)...)
	w.session = newSession(t, w.claude())
	return w
}

// claude is the Claude home.
func (w *world) claude() string { return filepath.Join(w.home, ".claude") }

func (w *world) config() string { return filepath.Join(w.home, ".config") }

// watched is a world in which a watcher runs and has seen the session.
func watched(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	run := w.run(t, "watcher run").prints("^proj-93 ")
	t.Cleanup(func() { run.stops(syscall.SIGTERM, 0) })
	return w
}

// run runs a line of a shell in the module's folder.
func (w *world) run(t *testing.T, line string, env ...string) *command {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = root, append(w.env, env...)
	return start(t, cmd)
}

// happens has the session begin and end to work until check answers nil: a program that follows does not say from when
// on it does.
func (w *world) happens(t *testing.T, what string, check func() error) {
	t.Helper()
	until(t, what, func() error {
		err := check()
		if err != nil {
			w.session.goesOn()
		}
		return err
	})
}

// url is where the bus is.
func (w *world) url(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.state, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var server struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(data, &server); err != nil {
		t.Fatal(err)
	}
	return server.URL
}

var doctorsHost = regexp.MustCompile(`for host (\S+) since`)

// host is the host's name as `watcher doctor` shows it, as a token.
func (w *world) host(t *testing.T) string {
	t.Helper()
	doctor := w.run(t, "watcher doctor --json")
	doctor.code(patience)
	m := doctorsHost.FindStringSubmatch(doctor.out.String())
	if m == nil {
		t.Fatalf("doctor does not show the host:\n%s", &doctor.out)
	}
	return events.Token(m[1])
}

// natsCLI is the folder of the nats command, "" where nobody says it.
func natsCLI() string { return os.Getenv("PEERBUS_NATS_CLI") }
