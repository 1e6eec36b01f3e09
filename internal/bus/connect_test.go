package bus_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/internal/bus"
	"peerbus/internal/state"
)

var roles = []string{state.Observer, state.Mailer, state.Operator, state.SenderRole(state.LocalSender)}

func (r *rig) target(role string) bus.Target {
	return bus.Target{State: r.dir.Path(), Role: role, Log: quiet}
}

func dialBus(t *testing.T, target bus.Target) *nats.Conn {
	t.Helper()
	nc, err := target.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func TestConnectAsEachRole(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	publish(t, r.log, appeared(1))
	for _, role := range roles {
		nc := dialBus(t, r.target(role))
		if nc.ConnectedServerName() != token {
			t.Errorf("%s: server %q", role, nc.ConnectedServerName())
		}
		if got, err := bus.AskStatus(t.Context(), nc, token); err != nil || got.Seq != 1 {
			t.Errorf("%s: status %+v, %v", role, got, err)
		}
		if b, err := bus.Direct(t.Context(), nc, bus.Peers, bus.Query{Seq: 1}); err != nil || len(b.Messages) != 1 {
			t.Errorf("%s: read %v, %v", role, b, err)
		}
	}
}

func TestConnectByAddress(t *testing.T) {
	r := start(t)
	by := bus.Target{URL: r.srv.URL(), NKey: r.dir.KeyPath(state.Observer), CA: r.srv.CA(), Role: state.Observer, Log: quiet}
	if b, err := bus.Direct(t.Context(), dialBus(t, by), bus.Peers, bus.Query{Batch: 1}); err != nil || len(b.Messages) != 0 {
		t.Errorf("read %v, %v", b, err)
	}
	unknown := by
	unknown.CA = ""
	if _, err := unknown.Connect(); err == nil || errors.Is(err, bus.ErrNoWatcher) {
		t.Errorf("without its certificate: %v", err)
	}
	nobody := by
	nobody.NKey = ""
	if _, err := nobody.Connect(); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a key: %v", err)
	}
}

func TestNoWatcher(t *testing.T) {
	if _, err := (bus.Target{State: filepath.Join(t.TempDir(), "none"), Role: state.Observer, Log: quiet}).Connect(); !errors.Is(err, bus.ErrNoWatcher) {
		t.Errorf("no state folder: %v", err)
	}
	r := start(t)
	kept, err := r.dir.Server()
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Shutdown()
	if _, err := r.target(state.Observer).Connect(); !errors.Is(err, bus.ErrNoWatcher) {
		t.Errorf("no server.json: %v", err)
	}
	if err := r.dir.WriteServer(kept); err != nil { // as a kill -9 leaves it
		t.Fatal(err)
	}
	if _, err := r.target(state.Observer).Connect(); !errors.Is(err, bus.ErrNoWatcher) {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := (bus.Target{URL: kept.URL, Role: state.Observer, Log: quiet}).Connect(); !errors.Is(err, bus.ErrNoWatcher) {
		t.Errorf("nobody listens there: %v", err)
	}
}

// Whoever listens on the port while the watcher is away is not taken for it.
func TestSquatterIsNotTheWatcher(t *testing.T) {
	r := start(t)
	kept, err := r.dir.Server()
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Shutdown()
	_, addr := plainServer(t)
	kept.URL = "tls://" + addr
	if err := r.dir.WriteServer(kept); err != nil {
		t.Fatal(err)
	}
	if nc, err := r.target(state.Observer).Connect(); err == nil {
		nc.Close()
		t.Error("connected")
	}
}

// A server that was started anew may have another port.
func TestConnectionFollowsTheServer(t *testing.T) {
	r := start(t)
	publish(t, r.log, appeared(1))
	nc := dialBus(t, r.target(state.Observer))
	before := r.srv.URL()
	r.srv.Shutdown()
	if err := nc.Publish("watcher.v1."+token+".status", nil); err == nil {
		within(t, func() bool { return !nc.IsConnected() })
		if err := nc.Publish("watcher.v1."+token+".status", nil); err == nil {
			t.Error("a publish is kept for later")
		}
	}
	r.run(t, freeAddr(t))
	if r.srv.URL() == before {
		t.Fatal("the same address")
	}
	within(t, nc.IsConnected)
	if b, err := bus.Direct(t.Context(), nc, bus.Peers, bus.Query{Seq: 1}); err != nil || len(b.Messages) != 1 {
		t.Errorf("read %v, %v", b, err)
	}
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestForbiddenIsLogged(t *testing.T) {
	r := start(t)
	var out lockedBuffer
	target := r.target(state.Observer)
	target.Log = slog.New(slog.NewTextHandler(&out, nil))
	nc := dialBus(t, target)
	if err := nc.Publish("mail.v1.q."+token+".claude.s.local.1", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	within(t, func() bool { return strings.Contains(out.String(), "Permissions Violation") })
	if strings.Contains(out.String(), "hello") {
		t.Errorf("the log has the text: %s", out.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestConnectFailsInTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	if _, err := (bus.Target{URL: "tls://" + l.Addr().String(), Role: state.Observer, Log: quiet}).Connect(); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	if _, err := (bus.Target{URL: "tls://x", NKey: filepath.Join(t.TempDir(), "none"), Role: state.Observer, Log: quiet}).Connect(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
}
