package embedded

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"peerbus/internal/state"
)

func TestServerJSON(t *testing.T) {
	d := claimed(t)
	before := time.Now()
	s := running(t, d, "")
	got, err := d.Server()
	if err != nil {
		t.Fatal(err)
	}
	if at := got.Started.Std(); at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("started at %v, not between %v and now", at, before)
	}
	got.Started = 0
	want := state.Server{URL: s.URL(), PID: os.Getpid(), Start: "31702", CA: s.CA(), Host: "laptop", Version: server.VERSION}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("server.json (-want +got):\n%s", d)
	}
	if !strings.HasPrefix(s.URL(), "tls://127.0.0.1:") {
		t.Errorf("URL is %s", s.URL())
	}
	s.Shutdown()
	s.Shutdown()
	if _, err := d.Server(); !errors.Is(err, state.ErrNotRunning) {
		t.Errorf("after the shutdown: %v", err)
	}
	if _, err := s.Connect(Watcher); err == nil {
		t.Error("connected after the shutdown")
	}
	if err := s.AddSender("bob"); err == nil {
		t.Error("sender added after the shutdown")
	}
}

func TestSamePortAfterRestart(t *testing.T) {
	d := claimed(t)
	s := running(t, d, "")
	again := make(chan struct{}, 1)
	nc := mustDial(t, s, state.Observer, nats.ReconnectHandler(func(*nats.Conn) { again <- struct{}{} }))
	url := s.URL()
	s.Shutdown()
	s = running(t, d, "")
	if s.URL() != url {
		t.Errorf("restarted at %s, was at %s", s.URL(), url)
	}
	arrives(t, again, "reconnect of a client")
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Error(err)
	}
}

func TestPortTaken(t *testing.T) {
	squat, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer squat.Close()
	taken := squat.Addr().String()

	t.Run("asked for by hand", func(t *testing.T) {
		d := claimed(t)
		_, err := Start(t.Context(), Options{State: d, Listen: taken, Log: slog.New(slog.DiscardHandler)})
		if !errors.Is(err, ErrPortTaken) || strings.ContainsAny(err.Error(), "\r\n") || !strings.Contains(err.Error(), taken) {
			t.Errorf("start answers %v", err)
		}
		if _, err := d.Server(); !errors.Is(err, state.ErrNotRunning) {
			t.Errorf("server.json: %v", err)
		}
	})
	t.Run("kept", func(t *testing.T) {
		d := claimed(t)
		if err := d.KeepPort(squat.Addr().(*net.TCPAddr).Port); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s, err := Start(t.Context(), Options{State: d, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Shutdown()
		if s.URL() == "tls://"+taken {
			t.Errorf("listens on %s, which is another's", taken)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), taken) {
			t.Errorf("the log has not one warning about %s:\n%s", taken, &log)
		}
		if port, err := d.Port(); err != nil || strconv.Itoa(port) != s.URL()[strings.LastIndex(s.URL(), ":")+1:] {
			t.Errorf("port %d, %v is kept, %s in use", port, err, s.URL())
		}
		mustDial(t, s, state.Observer)
	})
}

func TestListenByHand(t *testing.T) {
	d := claimed(t)
	first := running(t, d, "")
	url := first.URL()
	first.Shutdown()
	if s := running(t, d, strings.TrimPrefix(url, "tls://")); s.URL() != url {
		t.Errorf("listens on %s, want %s", s.URL(), url)
	}
	for _, bad := range []string{"0.0.0.0:4222", ":4222", "localhost:4222", "[::1]:4222", "192.0.2.1:4222", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "4222"} {
		if s, err := Start(t.Context(), Options{State: claimed(t), Listen: bad, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrListen) {
			t.Errorf("listen on %s: %v, %v", bad, s, err)
		}
	}
}

func TestStartIsCancelled(t *testing.T) {
	why := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if s, err := Start(ctx, Options{State: claimed(t), Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, why) {
		t.Errorf("start answers %v, %v", s, err)
	}
}

// Names that the configuration's language could take for something else.
func TestNames(t *testing.T) {
	senders := []string{"0", "-", "a-b", "9z", "true", "on", "1k", "include", strings.Repeat("x", 32)}
	for _, host := range []string{"laptop", "true", "12", "1k", "Anna's Mac.local", "ä*>.\"}", "$HOME", strings.Repeat("h", 253)} {
		d := claim(t, filepath.Join(t.TempDir(), "state"), host)
		for _, name := range senders {
			if _, err := d.EnsureKey(state.SenderRole(name)); err != nil {
				t.Fatal(err)
			}
		}
		s := running(t, d, "")
		for _, name := range senders {
			mustDial(t, s, state.SenderRole(name)).Close()
		}
		s.Shutdown()
	}
}

func TestDamagedSenderKeyStopsNobodyElse(t *testing.T) {
	d := claimed(t)
	if err := os.WriteFile(d.KeyPath(state.SenderRole("bob")), []byte("half a see"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := running(t, d, "")
	mustDial(t, s, state.SenderRole(state.LocalSender))
}

func TestNobodyElseMayReadTheStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits; the profile folder's access list is inherited")
	}
	d := claimed(t)
	running(t, d, "").Shutdown()
	for path, want := range map[string]fs.FileMode{d.Path(): 0o700, filepath.Join(d.Path(), "js"): 0o700, d.KeyPath(state.Observer): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	d, err := state.Claim(filepath.Join(b.TempDir(), "state"), state.Claiming{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for b.Loop() {
		s, err := Start(b.Context(), Options{State: d, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Shutdown()
		b.StartTimer()
	}
}
