package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

var (
	someServer = Server{
		URL: "tls://127.0.0.1:4222", PID: 7, Start: "99", CA: "/s/ca.pem", Host: "laptop",
		Started: events.At(time.Date(2026, 11, 30, 19, 0, 0, 0, time.UTC)), Version: "2.15.3",
	}
	someHomes = []Home{{Harness: "claude", Path: "/b"}, {Harness: "claude", Path: "/a"}, {Harness: "codex", Path: "/c"}}
)

// fill writes every file that there may be.
func fill(t *testing.T, d *Dir) {
	t.Helper()
	_, _, certErr := d.Certificate()
	_, keyErr := d.EnsureKey(Operator)
	if err := errors.Join(certErr, keyErr, d.WriteServer(someServer), d.SetHomes(someHomes), d.KeepPort(4222), d.Beat(time.Now())); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	_, absent := d.Server()
	if !errors.Is(absent, ErrNotRunning) {
		t.Errorf("server at first: %v", absent)
	}
	oneLine(t, absent, d.Path())
	if homes, err := d.Homes(); len(homes) != 0 || err != nil {
		t.Errorf("homes at first: %v, %v", homes, err)
	}
	if port, err := d.Port(); port != 0 || err != nil {
		t.Errorf("port at first: %v, %v", port, err)
	}
	if _, err := d.CA(); err == nil {
		t.Error("there is a certificate at first")
	}
	fill(t, d)
	server, err := d.Server()
	if d := cmp.Diff(someServer, server); d != "" || err != nil {
		t.Errorf("server: %v (-want +got):\n%s", err, d)
	}
	homes, err := d.Homes()
	if d := cmp.Diff(someHomes, homes); d != "" || err != nil {
		t.Errorf("homes: %v (-want +got):\n%s", err, d)
	}
	if port, err := d.Port(); port != 4222 || err != nil {
		t.Errorf("port: %v, %v", port, err)
	}
	for range 2 {
		if err := d.RemoveServer(); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Server(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("server at last: %v", err)
	}
	for name := range tree(t, d.Path()) {
		if strings.HasPrefix(filepath.Base(name), tempPrefix) {
			t.Errorf("%s stayed behind", name)
		}
	}
}

// What the files look like is read by other programs.
func TestFileForms(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{Host: "laptop", Start: "31702"})
	fill(t, d)
	for name, want := range map[string]string{
		serverFile:  `{"url":"tls://127.0.0.1:4222","pid":7,"start":"99","ca":"/s/ca.pem","host":"laptop","started":"2026-11-30T19:00:00.000Z","version":"2.15.3"}` + "\n",
		homesFile:   `{"claude":["/b","/a"],"codex":["/c"]}` + "\n",
		versionFile: "1\n",
		hostFile:    "laptop\n",
		machineFile: here.machine + "\n",
	} {
		got, err := os.ReadFile(d.file(name))
		if d := cmp.Diff(want, string(got)); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
	got, err := os.ReadFile(d.file(lockFile))
	if !strings.HasSuffix(string(got), " 31702\n") || err != nil {
		t.Errorf("lock: %q, %v", got, err)
	}
}

func TestServerOfAKilledWatcherIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	d := mustClaim(t, path, Claiming{})
	if err := d.WriteServer(someServer); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if _, err := mustClaim(t, path, Claiming{}).Server(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after a claim: %v", err)
	}
}

func TestBeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	d := mustClaim(t, path, Claiming{})
	if at := d.LastWatched(); !at.IsZero() {
		t.Errorf("watched at %v, before anybody did", at)
	}
	for _, at := range []time.Time{time.Now(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} { // clocks are set, too
		if err := d.Beat(at); err != nil {
			t.Fatal(err)
		}
		if got := d.LastWatched(); got.Sub(at).Abs() > time.Millisecond {
			t.Errorf("watched at %v, want %v", got, at)
		}
	}
	last := d.LastWatched()
	d.Close()
	if got := mustClaim(t, path, Claiming{}).LastWatched(); !got.Equal(last) {
		t.Errorf("the next start finds %v, want %v", got, last)
	}
}

// Whatever the files hold, it is read as a value or as an error of one line.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{"", "1\n", "99", "-1", "laptop\n", "7 99\n", "65536", "{}", "null", `{"claude":["/a"]}`, `{"url":7}`, "\xff\n\n", "SUAA"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "state")
	d, err := claim(path, Claiming{}, here)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte) {
		fine := map[string]func() error{
			versionFile: func() error { _, err := readVersion(path); return err },
			hostFile:    func() error { _, err := readHost(path); return err },
			serverFile:  func() error { _, err := d.Server(); return err },
			homesFile:   func() error { _, err := d.Homes(); return err },
			portFile:    func() error { _, err := d.Port(); return err },
			filepath.Join(keysFolder, Observer+keySuffix): func() error { _, err := d.PublicKey(Observer); return err },
		}
		for name, read := range fine {
			write(t, filepath.Join(path, name), string(data))
			if err := read(); err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Errorf("%s: %q", name, err)
			}
		}
		if pid := holder(strings.NewReader(string(data))); pid < 0 {
			t.Errorf("holder %d", pid)
		}
	})
}
