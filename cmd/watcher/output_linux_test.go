package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
)

// Whoever does not read what run prints, or has gone, holds up neither the watch nor its end.
func TestRunGoesOnWhereNobodyReads(t *testing.T) {
	for name, leave := range map[string]func(*os.File) error{
		"the pipe is full":   func(*os.File) error { return nil },
		"the reader is gone": (*os.File).Close,
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil { // some six events
				t.Fatal(err)
			}
			dir := t.TempDir()
			run := program(t, dir, "run", "--json", "--claude-home", dir)
			run.Stdout = w
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if err := leave(r); err != nil {
				t.Fatal(err)
			}
			for i := range 30 {
				rename(t, dir, fmt.Sprintf("name-%d", i))
				shows(t, dir, fmt.Sprintf(`"name":"name-%d"`, i))
			}
			if err := run.Process.Signal(unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := run.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// rename gives this process a record with that name, as if it were a session.
func rename(t *testing.T, dir, name string) {
	t.Helper()
	pid := os.Getpid()
	data, err := json.Marshal(map[string]any{
		"pid": pid, "sessionId": "25c49259-5cd0-4744-a158-5d764d50082a", "procStart": proc.Look(pid).Start,
		"name": name, "status": "idle",
	})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "sessions")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", pid)), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// shows waits until ls prints the text, 10 s at the most.
func shows(t *testing.T, dir, text string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		ls := program(t, dir, "ls", "--json")
		ls.Stderr = nil // there may be no watcher yet
		out, err := ls.Output()
		if strings.Contains(string(out), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s ls prints %s (%v), without %s", out, err, text)
		}
		time.Sleep(time.Millisecond) // between two tries
	}
}
