package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// startBus starts a server of one's own, on which no watcher is.
func startBus(t *testing.T) (*server.Server, *nats.Conn) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		ServerName: "laptop", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	nc, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return srv, nc
}

// TestOccupiedWithoutAnAnswer has the watcher down, the service slow and unable, and the bus down: each is exit code 3,
// prints no verdict, and says what follows.
func TestOccupiedWithoutAnAnswer(t *testing.T) {
	srv, nc := startBus(t)
	url := srv.ClientURL()
	wants := func(t *testing.T, says string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		err := runMain(t.Context(), []string{
			"occupied", "claude", "25c49259-5cd0-4744-a158-5d764d50082a", "--nats", url, "--json", "--state", t.TempDir(),
		}, &stdout, &stderr)
		code := report(err, &stderr)
		if text := stderr.String(); code != exitNoAnswer || stdout.Len() > 0 || !strings.HasPrefix(text, "watcher: do not attach") ||
			!strings.Contains(text, says) || strings.Count(text, "\n") != 1 {
			t.Errorf("exit code %d, printed %q and %q; want %q", code, stdout.String(), text, says)
		}
	}
	t.Run("watcher down", func(t *testing.T) { wants(t, "nobody answers") })
	answer := func(t *testing.T, f nats.MsgHandler) {
		t.Helper()
		sub, err := nc.Subscribe("watcher.v1.laptop.occupied", f)
		if err := errors.Join(err, nc.Flush()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(sub.Unsubscribe(), nc.Flush()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("service slow", func(t *testing.T) {
		answer(t, func(*nats.Msg) {})
		wants(t, "no answer in time")
	})
	t.Run("service unable", func(t *testing.T) {
		answer(t, func(m *nats.Msg) {
			reply := nats.NewMsg(m.Reply)
			reply.Header.Set("Nats-Service-Error-Code", "503")
			reply.Header.Set("Nats-Service-Error", "the log is not read yet")
			if err := m.RespondMsg(reply); err != nil {
				t.Error(err)
			}
		})
		wants(t, "the log is not read yet (503)")
	})
	t.Run("no answer to that", func(t *testing.T) {
		answer(t, func(m *nats.Msg) {
			if err := m.Respond([]byte(`{"attachable":true,"reason":"probe_failed"}`)); err != nil {
				t.Error(err)
			}
		})
		wants(t, "not an answer")
	})
	t.Run("bus down", func(t *testing.T) {
		srv.Shutdown()
		wants(t, "no watcher is running")
	})
}
