package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/internal/state"
	"peerbus/test/tmpfs"
)

// The row "disk full": what was acknowledged is there after the space is back, and the server says that it failed.
func TestDiskFull(t *testing.T) {
	tmpfs.Run(t, 8<<20, func(t *testing.T, root string) {
		d := claim(t, filepath.Join(root, "state"), "laptop")
		s := running(t, d, "")
		log := eventLog(t, s)
		body := []byte(strings.Repeat("x", 1<<10))
		acked := uint64(0)
		publish := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second) // on a full disk there is no answer
			defer cancel()
			ack, err := log.Publish(ctx, "log.x", body, jetstream.WithRetryAttempts(0))
			if err == nil {
				acked = ack.Sequence
			}
			return err
		}
		for range 100 {
			if err := publish(); err != nil {
				t.Fatal(err)
			}
		}
		free := tmpfs.Fill(t, root)
		for publish() == nil { // what has its blocks already is taken
		}
		failed := arrives(t, s.Failed(), "word that the disk is full")
		if !errors.Is(failed, ErrDiskFull) || strings.Contains(failed.Error(), "\n") {
			t.Errorf("failed with %v", failed)
		}
		s.Shutdown()
		if s, err := Start(t.Context(), Options{State: d, Log: slog.New(slog.DiscardHandler)}); err == nil {
			s.Shutdown()
			t.Log("it starts on the full disk")
		} else if !errors.Is(err, ErrDiskFull) || strings.Contains(err.Error(), "\n") {
			t.Errorf("start on the full disk: %v", err)
		}
		free()
		log = eventLog(t, running(t, d, ""))
		stream, err := log.Stream(t.Context(), "LOG")
		if err != nil {
			t.Fatal(err)
		}
		if info := stream.CachedInfo(); info.State.Msgs < acked || info.State.FirstSeq != 1 {
			t.Errorf("%d messages from %d on are left of %d", info.State.Msgs, info.State.FirstSeq, acked)
		}
		if err := publish(); err != nil {
			t.Errorf("publish with space: %v", err)
		}
	})
}

func TestReadOnlyDisk(t *testing.T) {
	tmpfs.Run(t, 8<<20, func(t *testing.T, root string) {
		d := claim(t, filepath.Join(root, "state"), "laptop")
		running(t, d, "").Shutdown()
		d.Close() // a file that is open for writing keeps a file system writable
		tmpfs.ReadOnly(t, root, true)
		opened, err := state.Open(d.Path())
		if err != nil {
			t.Fatal(err)
		}
		s, err := Start(t.Context(), Options{State: opened, Log: slog.New(slog.DiscardHandler)})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "not writable") || !strings.Contains(err.Error(), d.Path()) {
			t.Errorf("start answers %v, %v", s, err)
		}
	})
}

// eventLog makes sure of a stream LOG like that of the events.
func eventLog(t *testing.T, s *Server) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(mustConnect(t, s, Watcher))
	if err != nil {
		t.Fatal(err)
	}
	cfg := jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log.>"}, Storage: jetstream.FileStorage, AllowDirect: true, DenyDelete: true, DenyPurge: true}
	if _, err := js.CreateOrUpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(fmt.Errorf("make the stream: %w", err))
	}
	return js
}
