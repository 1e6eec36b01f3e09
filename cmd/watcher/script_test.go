package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"peerbus/internal/proc"
)

// noRaceSleep has a program that is built with the race detector end when it ends, and not a second later.
const noRaceSleep = "atexit_sleep_ms=0"

// TestMain makes the test binary the program, so that scripts can run it, and a process that does nothing, which
// stands in for a session.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"watcher": main,
		"session-process": func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // until its stdin is closed
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GORACE", noRaceSleep)
			e.Setenv("PEERBUS_STATE", filepath.Join(e.WorkDir, "state"))
			e.Values[sessionsKey] = sessions{}
			return os.MkdirAll(filepath.Join(home, "sessions"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"session": cmdSession, "until": cmdUntil, "code": cmdCode, "kill9": cmdKill9, "matches": cmdMatches,
			"ends": cmdEnds, "reads": cmdReads, "record": cmdRecord, "ledger": cmdLedger,
		},
	})
}

type sessionsKeyType struct{}

var sessionsKey sessionsKeyType

// sessions are the stand-ins of a script, by the name that the script gives them.
type sessions map[string]*exec.Cmd

// cmdSession is "session NAME STATUS [SHOWN]": a process and a record in home/sessions, rewritten where it is there.
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: session NAME STATUS [SHOWN]")
	}
	all := ts.Value(sessionsKey).(sessions)
	cmd := all[args[0]]
	if cmd == nil {
		cmd = startProcess(ts)
		all[args[0]] = cmd
	}
	shown := args[0]
	if len(args) > 2 {
		var err error
		if shown, err = strconv.Unquote(`"` + args[2] + `"`); err != nil {
			ts.Fatalf("the name shown: %v", err)
		}
	}
	pid := cmd.Process.Pid
	const started = 1796065217544
	data, err := json.Marshal(map[string]any{
		"pid": pid, "sessionId": fmt.Sprintf("25c49259-5cd0-4744-a158-%012d", pid), "cwd": "/home/u/proj",
		"procStart": proc.Look(pid).Start, "version": "2.1.332", "kind": "interactive", "entrypoint": "cli",
		"name": shown, "status": args[1], "startedAt": started, "statusUpdatedAt": started + len(args[1]),
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("home/sessions/%d.json", pid)), data, 0o644))
	ts.Setenv("PID_"+args[0], strconv.Itoa(pid))
}

func startProcess(ts *testscript.TestScript) *exec.Cmd {
	path, err := exec.LookPath("session-process")
	ts.Check(err)
	cmd := exec.Command(path)
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		stdin.Close()
		_ = cmd.Wait() // it may have been killed
	})
	return cmd
}

// cmdKill9 is "kill9 NAME": the session dies and leaves its record.
func cmdKill9(ts *testscript.TestScript, neg bool, args []string) {
	cmd := ts.Value(sessionsKey).(sessions)[args[0]]
	if neg || cmd == nil {
		ts.Fatalf("no session %v", args)
	}
	ts.Check(cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
}

// cmdUntil is "until REGEXP COMMAND…": runs the command until its standard output matches, 10 s at the most.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	want := regexp.MustCompile(`(?m)` + args[0])
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := ts.Exec(args[1], args[2:]...)
		if want.MatchString(ts.ReadFile("stdout")) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("after 10 s %v prints (%v):\n%s%s", args[1:], err, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
		}
		time.Sleep(10 * time.Millisecond) // between two tries, not for anything to happen
	}
}

// cmdReads is "reads REGEXP COMMAND…": the command, which does not end by itself, prints a line that matches, and none
// before it with an escape character. Then it is interrupted.
func cmdReads(ts *testscript.TestScript, neg bool, args []string) {
	want := regexp.MustCompile(args[0])
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args[2:]...)
	cmd.Env = append(os.Environ(), "PEERBUS_STATE="+ts.Getenv("PEERBUS_STATE"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	found := false
	for lines := bufio.NewScanner(out); !found && lines.Scan(); {
		if strings.ContainsRune(lines.Text(), '\x1b') {
			ts.Fatalf("an escape character in %q", lines.Text())
		}
		found = want.MatchString(lines.Text())
	}
	_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // 130
	if found == neg {
		ts.Fatalf("%v prints no such line", args[1:])
	}
}

// cmdCode is "code N COMMAND…": the command ends with the exit code N.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if (got == want) == neg {
		ts.Fatalf("exit code %d, want %d; stderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

// cmdMatches is "matches FILE REGEXP COUNT": how many lines of the file match.
func cmdMatches(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	if got := len(regexp.MustCompile(`(?m)^.*`+args[1]+`.*$`).FindAllString(ts.ReadFile(args[0]), -1)); (got == want) == neg {
		ts.Fatalf("%d lines match %q, want %d, in:\n%s", got, args[1], want, ts.ReadFile(args[0]))
	}
}

// cmdEnds is "ends INT|TERM": sends the watcher the signal and waits until it has ended, 10 s at the most.
func cmdEnds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || stops[args[0]] == nil {
		ts.Fatalf("usage: ends INT|TERM")
	}
	var server struct{ PID int }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(ts.Getenv("PEERBUS_STATE"), "server.json"))), &server))
	p, err := os.FindProcess(server.PID)
	ts.Check(err)
	ts.Check(p.Signal(stops[args[0]]))
	for deadline := time.Now().Add(10 * time.Second); proc.Look(server.PID).Verdict != proc.Dead; {
		if time.Now().After(deadline) {
			ts.Fatalf("still there 10 s after SIG%s", args[0])
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

var stops = map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
