package codex

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Version is the version that is driven.
const Version = "0.171.0"

// Client is an installed Codex.
type Client struct {
	path string // of the native program, which the command of the npm package runs as its child
}

// Installed is the client. The test is skipped when nobody says where clients are, and fails when it is not there.
func Installed(t testing.TB) Client {
	t.Helper()
	dir := os.Getenv("PEERBUS_CLIENTS")
	if dir == "" {
		t.Skip("PEERBUS_CLIENTS does not name a folder of installed clients")
	}
	if runtime.GOOS != "linux" {
		t.Skip("who holds a lock is read in /proc/locks, which is Linux's")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatalf("find the client: %v", err)
	}
	packages := filepath.Join(dir, "codex-"+Version, "node_modules", "@openai")
	found, err := filepath.Glob(filepath.Join(packages, "codex-*", "vendor", "*", "bin", "codex"))
	if err != nil || len(found) != 1 {
		t.Fatalf("find the client in %s: %q, %v", packages, found, err)
	}
	return Client{path: found[0]}
}

// release is the folder of the program and what belongs to it.
func (c Client) release() string { return filepath.Dir(filepath.Dir(c.path)) }
