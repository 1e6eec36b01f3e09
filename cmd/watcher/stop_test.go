package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A run ends within a second of SIGINT and SIGTERM, with 0. On a machine that has no time for it once, it is tried again.
func TestRunEndsWithinASecond(t *testing.T) {
	for name, sig := range stops {
		t.Run(name, func(t *testing.T) {
			var took time.Duration
			for range 3 {
				if took = stopping(t, sig); took < time.Second {
					return
				}
			}
			t.Errorf("it took %v, three times more than a second", took)
		})
	}
}

func stopping(t *testing.T, sig os.Signal) time.Duration {
	dir := t.TempDir()
	cmd := program(t, dir, "run", "--claude-home", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it watches once it says who is there
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("it ended with %v", err)
	}
	return time.Since(began)
}

// program is the watcher, with its state in a folder of its own below dir.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "watcher") // under this name the test binary is the program
	if err := os.Symlink(self, path); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append(args, "--state", filepath.Join(dir, "state"))...)
	cmd.Env = append(os.Environ(), "GORACE="+noRaceSleep)
	cmd.Stderr = os.Stderr
	return cmd
}
