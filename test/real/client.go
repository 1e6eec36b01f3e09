package real

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The versions that are driven: a recent one and an old one.
const (
	Recent = "2.1.332"
	Old    = "2.1.250"
)

// Client is an installed Claude Code.
type Client struct {
	Version string
	path    string
}

// Installed is the client of that version. The test is skipped when nobody says where clients are, and fails when this
// one is not there.
func Installed(t testing.TB, version string) Client {
	t.Helper()
	dir := os.Getenv("PEERBUS_CLIENTS")
	if dir == "" {
		t.Skip("PEERBUS_CLIENTS does not name a folder of installed clients")
	}
	if runtime.GOOS != "linux" {
		t.Skip("what a client leaves running is found in /proc, which is Linux's")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatalf("find the clients: %v", err)
	}
	path := filepath.Join(dir, version, "node_modules", ".bin", "claude")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("find client %s: %v", version, err)
	}
	return Client{Version: version, path: path}
}
