//go:build unix

package readme

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"peerbus/internal/proc"
)

// session is the one of which the README tells: a process that does nothing, and a record of it as Claude Code writes
// one.
type session struct {
	t       *testing.T
	process *command
	path    string
	record  record
}

type record struct {
	PID        int    `json:"pid"`
	Session    string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	ProcStart  string `json:"procStart"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Entrypoint string `json:"entrypoint"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor,omitzero"`
	Started    int64  `json:"startedAt"`
	Since      int64  `json:"statusUpdatedAt"`
}

// newSession is idle, and registered in a Claude home.
func newSession(t *testing.T, home string) *session {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{standInEnv + "=1"}
	if _, err := cmd.StdinPipe(); err != nil { // which the kernel closes when the test is killed
		t.Fatal(err)
	}
	s := &session{t: t, process: start(t, cmd)}
	pid := cmd.Process.Pid
	s.path = filepath.Join(home, "sessions", fmt.Sprintf("%d.json", pid))
	s.record = record{
		PID: pid, Session: "25c49259-5cd0-4744-a158-5d764d50082a", Cwd: "/home/u/proj", ProcStart: proc.Look(pid).Start,
		Version: "2.1.332", Kind: "interactive", Entrypoint: "cli", Name: "proj-93", Started: time.Now().UnixMilli(),
	}
	s.is("idle", "")
	return s
}

// is gives it a status, in the client's word, and what it waits for.
func (s *session) is(status, waitingFor string) {
	s.t.Helper()
	// A time of its own for every status: one that only goes there and back would be no change.
	s.record.Since = max(time.Now().UnixMilli(), s.record.Since+1)
	s.record.Status, s.record.WaitingFor = status, waitingFor
	data, err := json.Marshal(s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// goesOn begins to work, or ends to.
func (s *session) goesOn() {
	s.t.Helper()
	if s.record.Status == "busy" {
		s.is("idle", "")
	} else {
		s.is("busy", "")
	}
}
