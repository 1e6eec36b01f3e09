package embedded

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"peerbus/internal/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// claimed is a new state folder.
func claimed(t *testing.T) *state.Dir {
	t.Helper()
	return claim(t, filepath.Join(t.TempDir(), "state"), "laptop")
}

func claim(t *testing.T, path, host string) *state.Dir {
	t.Helper()
	d, err := state.Claim(path, state.Claiming{Host: host, Start: "31702"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// running is a server on d.
func running(t *testing.T, d *state.Dir, listen string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{State: d, Listen: listen, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

// dial connects over TCP, as other programs do.
func dial(s *Server, role string, opts ...nats.Option) (*nats.Conn, error) {
	key, err := nats.NkeyOptionFromSeed(s.dir.KeyPath(role))
	if err != nil {
		return nil, err
	}
	own := []nats.Option{key, nats.RootCAs(s.CA()), nats.CustomInboxPrefix("_INBOX." + role), nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond)}
	return nats.Connect(s.URL(), append(own, opts...)...)
}

func mustDial(t *testing.T, s *Server, role string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := dial(s, role, opts...)
	if err != nil {
		t.Fatalf("connect %s: %v", role, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func mustConnect(t *testing.T, s *Server, role string) *nats.Conn {
	t.Helper()
	nc, err := s.Connect(role)
	if err != nil {
		t.Fatal(err)
	}
	return nc
}

// arrives waits for a value that must come.
func arrives[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second): // far more than a busy machine needs
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}
