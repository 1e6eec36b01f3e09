package codex

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

const oneThread = "01a22e85-76fa-7943-8656-97e165ecb0cd"

func TestMessages(t *testing.T) {
	active := status{"active", []string{"waitingOnApproval"}}
	for name, tc := range map[string]struct {
		data string
		want message
	}{
		"a push": {
			`{"method":"thread/status/changed","params":{"threadId":"` + oneThread + `","status":{"type":"active","activeFlags":["waitingOnApproval"]}}}`,
			message{told: []told{{oneThread, active}}},
		},
		"a push with more in it": {
			`{"jsonrpc":"2.0","method":"thread/status/changed","params":{"x":1,"threadId":"` + oneThread + `","status":{"type":"idle","y":[]}},"emittedAtMs":7}`,
			message{told: []told{{oneThread, status{word: "idle"}}}},
		},
		"a new thread": {
			`{"method":"thread/started","params":{"thread":{"id":"` + oneThread + `","status":{"type":"idle"}}}}`,
			message{told: []told{{oneThread, status{word: "idle"}}}, sentOf: oneThread},
		},
		"a turn":                 {`{"method":"turn/started","params":{"threadId":"` + oneThread + `","turn":{"id":"t"}}}`, message{sentOf: oneThread}},
		"an answer with ids":     {`{"id":2,"result":{"data":["` + oneThread + `","x",7],"nextCursor":null}}`, message{answers: 2, loaded: []string{oneThread}}},
		"an answer with threads": {`{"id":3,"result":{"data":[{"id":"` + oneThread + `","status":{"type":"active","activeFlags":["waitingOnApproval"]}},{"id":"x"},{}]}}`, message{answers: 3, told: []told{{oneThread, active}}}},
		"a refusal":              {`{"id":3,"error":{"code":-32600,"message":"no"}}`, message{answers: 3, refused: true}},
		"a request to us":        {`{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"` + oneThread + `"}}`, message{}},
		"something else":         {`{"method":"thread/name/updated","params":{"threadId":"` + oneThread + `","status":{"type":"idle"}}}`, message{}},
		"no status":              {`{"method":"thread/status/changed","params":{"threadId":"` + oneThread + `","status":"idle"}}`, message{}},
		"no thread":              {`{"method":"thread/status/changed","params":{"threadId":"../x","status":{"type":"idle"}}}`, message{}},
		"flags that are none":    {`{"method":"thread/status/changed","params":{"threadId":"` + oneThread + `","status":{"type":"active","activeFlags":[7,"",null]}}}`, message{told: []told{{oneThread, status{word: "active"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeMessage([]byte(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(message{}, told{}, status{})); d != "" {
				t.Errorf("message (-want +got):\n%s", d)
			}
		})
	}
	for _, bad := range []string{"", "null", "[]", "7", `{"id":"1","result":{}}`, `{"id":0,"result":{}}`, `{"id":-1}`, `{}`, `{"result":{}}`, "\x00"} {
		if m, err := decodeMessage([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, m)
		}
	}
}

func TestWhatTheDaemonSaysIsAHint(t *testing.T) {
	busy := events.Peer{Status: events.Busy, VendorStatus: "task_started", StatusSince: 5}
	idle := events.Peer{Status: events.Idle, VendorStatus: "task_complete", StatusSince: 6}
	none := events.Peer{Status: events.Unknown}
	approval := status{"active", []string{"waitingOnApproval"}}
	for name, tc := range map[string]struct {
		files events.Peer
		said  status
		want  events.Peer
	}{
		"waits in a turn":              {busy, approval, events.Peer{Status: events.Waiting, VendorStatus: "waitingOnApproval", WaitingFor: "approval", StatusSince: 7}},
		"waits, no rollout yet":        {none, approval, events.Peer{Status: events.Waiting, VendorStatus: "waitingOnApproval", WaitingFor: "approval", StatusSince: 7}},
		"waits for two things":         {busy, status{"active", []string{"waitingOnApproval", "waitingOnUserInput", "waitingOnApproval"}}, events.Peer{Status: events.Waiting, VendorStatus: "waitingOnApproval,waitingOnUserInput", WaitingFor: "approval, user input", StatusSince: 7}},
		"waits for what is not known":  {busy, status{"active", []string{"waitingOnGodot"}}, events.Peer{Status: events.Waiting, VendorStatus: "waitingOnGodot", WaitingFor: "waitingOnGodot", StatusSince: 7}},
		"a flag that is no waiting":    {busy, status{"active", []string{"dreaming"}}, busy},
		"the turn has ended meanwhile": {idle, approval, idle},
		"in a turn":                    {busy, status{word: "active"}, busy},
		"idle, by the files in a turn": {busy, status{word: "idle"}, busy},
		"idle, no rollout yet":         {none, status{word: "idle"}, events.Peer{Status: events.Idle, VendorStatus: "idle", StatusSince: 7}},
		"active, no rollout yet":       {none, status{word: "active"}, events.Peer{Status: events.Busy, VendorStatus: "active", StatusSince: 7}},
		"words of tomorrow":            {none, status{word: "dreaming", flags: []string{"waitingOnApproval"}}, none},
	} {
		got := tc.files
		heard{tc.said, 7}.improve(&got)
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// FuzzMessage: whatever the daemon says, ids are ids, texts keep their limits, and nobody waits for nothing.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"method":"thread/status/changed","params":{"threadId":"` + oneThread + `","status":{"type":"active","activeFlags":["waitingOnApproval"]}}}`))
	f.Add([]byte(`{"id":3,"result":{"data":[{"id":"` + oneThread + `","status":{"type":"idle"}},"` + oneThread + `"]}}`))
	f.Add([]byte(`{"id":3,"error":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMessage(data)
		if err != nil {
			return
		}
		for _, id := range m.loaded {
			if !validID(id) {
				t.Errorf("thread %q", id)
			}
		}
		for _, told := range m.told {
			if !validID(told.thread) || told.status.word == "" || len(told.status.flags) > maxFlags {
				t.Errorf("told %+v", told)
			}
			p := events.Peer{Status: events.Unknown}
			heard{told.status, 1}.improve(&p)
			if (p.Status == events.Waiting) != (p.WaitingFor != "") || len(p.WaitingFor) > maxWord || len(p.VendorStatus) > maxWord {
				t.Errorf("peer %+v", p)
			}
		}
	})
}
