package standin_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/test/real/standin"
)

// said is a request in which the user says text, and with result set a tool has answered since.
func said(text string, result bool) string {
	body := `{"model":"m","stream":true,"tools":[{"name":"Bash"},{"name":"AskUserQuestion"}],"messages":[` +
		`{"role":"user","content":"RUNBASH[an older wish]"},{"role":"assistant","content":[{"type":"text","text":"ok"}]},` +
		`{"role":"user","content":[{"type":"text","text":"<system-reminder>ASKMENU\nis a word</system-reminder>"},{"type":"text","text":` +
		quote(text) + `}]},{"role":"system","content":"BGSHELL[from the client itself]"}`
	if result {
		body += `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}` +
			`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fine"},` +
			`{"type":"text","text":"<system-reminder>ASKMENU</system-reminder>"}]}`
	}
	return body + `]}`
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has an encoding
	}
	return string(data)
}

func TestAnswersFollowTheWords(t *testing.T) {
	url := standin.Serve(t, &standin.Model{})
	for name, tc := range map[string]struct {
		body string
		want reply
	}{
		"anything":        {said("hello", false), reply{Stop: "end_turn", Text: "ok"}},
		"a tool's result": {said("RUNBASH[touch x]", true), reply{Stop: "end_turn", Text: "done"}},
		"bash": {
			said("please RUNBASH[touch x] now", false),
			reply{Stop: "tool_use", Tool: "Bash", Input: `{"command":"touch x","description":"run it"}`},
		},
		"background shell": {
			said("BGSHELL[sleep 9]", false),
			reply{Stop: "tool_use", Tool: "Bash", Input: `{"command":"sleep 9","description":"run it","run_in_background":true}`},
		},
		"menu": {
			said("ASKMENU", false),
			reply{Stop: "tool_use", Tool: "AskUserQuestion", Input: `{"questions":[{"question":"Which one?","header":"Pick",` +
				`"multiSelect":false,"options":[{"label":"One","description":"the first"},{"label":"Two","description":"the second"}]}]}`},
		},
		"no tools": {
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"HOLD[never] RUNBASH[touch x]"}]}`,
			reply{Stop: "end_turn", Text: "ok"},
		},
		"not that tool": {
			`{"model":"m","stream":true,"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"ASKMENU RUNBASH[x] BGSHELL[x]"}]}`,
			reply{Stop: "end_turn", Text: "ok"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, read(t, post(t, url+"/v1/messages?beta=true", tc.body))); d != "" {
				t.Errorf("reply (-want +got):\n%s", d)
			}
		})
	}
}

func TestOtherPaths(t *testing.T) {
	url := standin.Serve(t, &standin.Model{})
	res := post(t, url+"/v1/messages/count_tokens?beta=true", said("HOLD[never]", false))
	if data, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 || string(data) != `{"input_tokens":10}` {
		t.Errorf("count_tokens: %s %q %v", res.Status, data, err)
	}
	if res := post(t, url+"/v1/models", "{}"); res.StatusCode != http.StatusNotFound {
		t.Errorf("POST /v1/models: %s, want 404", res.Status)
	}
	res, err := http.Get(url + "/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("GET /v1/messages: %s, want 404", res.Status)
	}
	for _, body := range []string{"", "{", `{"messages":7,"stream":true}`, `{"messages":[]}`} {
		if res := post(t, url+"/v1/messages", body); res.StatusCode != http.StatusBadRequest {
			t.Errorf("body %q: %s, want 400", body, res.Status)
		}
	}
}

func TestGates(t *testing.T) {
	var m standin.Model
	url := standin.Serve(t, &m)
	for name, tc := range map[string]struct {
		gate string
		body string
		want reply
	}{
		"before the answer":   {"a", said("HOLD[a] THEN[b]", false), reply{Stop: "end_turn", Text: "ok"}},
		"after a tool":        {"b", said("HOLD[never] THEN[b]", true), reply{Stop: "end_turn", Text: "done"}},
		"once open, for good": {"a", said("HOLD[a]", false), reply{Stop: "end_turn", Text: "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := bufio.NewReader(post(t, url+"/v1/messages", tc.body).Body)
			head, err := events.ReadString('\n')
			if err != nil || head != "event: message_start\n" {
				t.Fatalf("head %q, %v, want one before the gate opens", head, err)
			}
			m.Release(tc.gate)
			m.Release(tc.gate) // an open gate stays open
			if d := cmp.Diff(tc.want, readEvents(t, events)); d != "" {
				t.Errorf("reply (-want +got):\n%s", d)
			}
		})
	}
}

func TestGateIsLeftWhenTheClientGoes(t *testing.T) {
	done := make(chan struct{})
	m := &standin.Model{}
	url := standin.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		m.ServeHTTP(w, r)
	}))
	if err := post(t, url+"/v1/messages", said("HOLD[never]", false)).Body.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the answer still waits at its gate")
	}
}

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// reply is a streamed answer put together again.
type reply struct {
	Stop, Text, Tool, Input string
}

func read(t *testing.T, res *http.Response) reply {
	t.Helper()
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	return readEvents(t, res.Body)
}

func readEvents(t *testing.T, r io.Reader) reply {
	t.Helper()
	var (
		got  reply
		last string
	)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string `json:"type"`
			Block struct {
				Name string `json:"name"`
			} `json:"content_block"`
			Delta struct {
				Text        string `json:"text"`
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			} `json:"delta"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		last = e.Type
		got.Tool += e.Block.Name
		got.Text += e.Delta.Text
		got.Input += e.Delta.PartialJSON
		got.Stop += e.Delta.StopReason
	}
	if err := lines.Err(); err != nil || last != "message_stop" {
		t.Fatalf("the stream ends with %q, %v", last, err)
	}
	return got
}
