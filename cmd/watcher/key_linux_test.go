package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The running watcher and the commands never open a client's key, which lies beside the records.
func TestAKeyIsNeverOpenedAndNeverPrinted(t *testing.T) {
	const token = "peer-token-that-nobody-may-see"
	dir := t.TempDir()
	rename(t, dir, "a")
	key := filepath.Join(dir, "sessions", "6540.6f3a.key")
	if err := os.WriteFile(key, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	notices, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(notices)
	if _, err := unix.InotifyAddWatch(notices, key, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	run := program(t, dir, "run", "--json", "--log-level", "debug", "--claude-home", dir)
	run.Stdout, run.Stderr = &printed, &printed
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	shows(t, dir, `"name":"a"`)
	rename(t, dir, "b")
	shows(t, dir, `"name":"b"`)
	for _, args := range [][]string{{"ls"}, {"why", "b"}, {"doctor"}, {"occupied", "claude", "25c49259-5cd0-4744-a158-5d764d50082a"}} {
		out, err := program(t, dir, append(args, "--json")...).Output() // some of them end with 1
		if len(out) == 0 {
			t.Errorf("%s printed nothing: %v", args, err)
		}
		if bytes.Contains(out, []byte(token)) {
			t.Errorf("%s printed the token", args)
		}
	}
	if err := run.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(printed.Bytes(), []byte(token)) {
		t.Error("run printed the token")
	}
	quiet(t, notices)
	if _, err := os.ReadFile(key); err != nil { // which shows that the notices work
		t.Fatal(err)
	}
	if n, err := unix.Read(notices, make([]byte, 4096)); n <= 0 {
		t.Fatalf("an opening is not noticed: %v", err)
	}
}

// quiet fails where there was a notice.
func quiet(t *testing.T, notices int) {
	t.Helper()
	if _, err := unix.Read(notices, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("the key was opened or read (%v)", err)
	}
}
