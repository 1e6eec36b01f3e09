package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"peerbus/internal/proc"
)

// cmdRecord is "record NAME KEY VALUE": writes the session's record again with the key set to the value, which is JSON,
// or without it for "-". THREAD_NAME is the session's id from then on.
func cmdRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: record NAME KEY VALUE")
	}
	path := ts.MkAbs("home/sessions/" + ts.Getenv("PID_"+args[0]) + ".json")
	record := map[string]json.RawMessage{}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(path)), &record))
	record[args[1]] = json.RawMessage(args[2])
	if args[2] == "-" {
		delete(record, args[1])
	}
	data, err := json.Marshal(record)
	ts.Check(err)
	ts.Check(os.WriteFile(path, data, 0o644))
	var thread string
	ts.Check(json.Unmarshal(record["sessionId"], &thread))
	ts.Setenv("THREAD_"+args[0], thread)
}

// cmdLedger is "ledger NAME BOOT PID START": has the spawn ledger name the session, by what of it is true; another word
// than boot, pid and start stands for something else.
func cmdLedger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: ledger NAME BOOT PID START")
	}
	pid, err := strconv.Atoi(ts.Getenv("PID_" + args[0]))
	ts.Check(err)
	boot, start := proc.BootID(), proc.Look(pid).Start
	if args[1] != "boot" {
		boot = args[1]
	}
	if args[2] != "pid" {
		pid++
	}
	if args[3] != "start" {
		start += "0"
	}
	folder := filepath.Join(ts.Getenv("PEERBUS_STATE"), "couriers")
	ts.Check(os.MkdirAll(folder, 0o700))
	text := fmt.Sprintf(`{"boot":%q,"pids":[{"pid":%d,"start":%q}]}`, boot, pid, start)
	ts.Check(os.WriteFile(filepath.Join(folder, "c1.json"), []byte(text), 0o600))
}
