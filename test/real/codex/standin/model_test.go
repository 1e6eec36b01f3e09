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

	"peerbus/test/real/codex/standin"
	serve "peerbus/test/real/standin"
)

// said is a request in which the user says text, and with result set a tool has answered since.
func said(text string, result bool) string {
	items := `{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions"}]},` +
		message("developer", "RUN[from the client itself]") +
		`,` + message("user", "RUN[an older wish]") + `,{"type":"custom_tool_call_output","call_id":"call_0","output":"fine"},` +
		message("user", text) + `,` + message("user", "<environment_context>RUN[x]</environment_context>")
	if result {
		items += `,{"type":"custom_tool_call","call_id":"call_1","name":"exec","input":"1"}` +
			`,{"type":"custom_tool_call_output","call_id":"call_1","output":[{"type":"input_text","text":"HOLD[never]"}]}`
	}
	return `{"model":"m","stream":true,"text":{"verbosity":"low"},"input":[` + items + `]}`
}

func message(role, text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has an encoding
	}
	return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":` + string(data) + `}]}`
}

func TestAnswersFollowTheWords(t *testing.T) {
	url := serve.Serve(t, &standin.Model{})
	for name, tc := range map[string]struct {
		body string
		want reply
	}{
		"anything":        {said("hello", false), reply{Text: "ok"}},
		"a tool's result": {said("RUN[touch x]", true), reply{Text: "done"}},
		"run": {
			said("please RUN[touch x] now", false),
			reply{Tool: "exec", Input: `const r = await tools.exec_command({"cmd":"touch x","sandbox_permissions":"require_escalated",` +
				`"justification":"may it run?"}); text(r.output);`},
		},
		"spawn": {
			said("SPAWN[a]", false),
			reply{Tool: "collaboration spawn_agent", Input: `{"task_name":"helper","message":"HOLD[a]","fork_turns":"none"}`},
		},
		"told by another agent": {
			`{"stream":true,"input":[` + message("user", "hello") + `,{"type":"agent_message","author":"/root","recipient":"/root/helper",` +
				`"content":[{"type":"input_text","text":"Payload:"},{"type":"encrypted_content","encrypted_content":"RUN[y]"}]}]}`,
			reply{Tool: "exec", Input: `const r = await tools.exec_command({"cmd":"y","sandbox_permissions":"require_escalated",` +
				`"justification":"may it run?"}); text(r.output);`},
		},
		"a title": {
			`{"stream":true,"text":{"format":{"type":"json_schema"}},"input":[` + message("user", "Make up a title: HOLD[never] RUN[x]") + `]}`,
			reply{Text: `{"title":"` + standin.Title + `"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, read(t, post(t, url+"/v1/responses", tc.body))); d != "" {
				t.Errorf("reply (-want +got):\n%s", d)
			}
		})
	}
}

func TestOtherRequests(t *testing.T) {
	url := serve.Serve(t, &standin.Model{})
	if res := post(t, url+"/v1/models", "{}"); res.StatusCode != http.StatusNotFound {
		t.Errorf("POST /v1/models: %s, want 404", res.Status)
	}
	res, err := http.Get(url + "/v1/responses")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("GET /v1/responses: %s, want 404", res.Status)
	}
	for _, body := range []string{"", "{", `{"input":7,"stream":true}`, `{"input":[]}`} {
		if res := post(t, url+"/v1/responses", body); res.StatusCode != http.StatusBadRequest {
			t.Errorf("body %q: %s, want 400", body, res.Status)
		}
	}
}

func TestGates(t *testing.T) {
	var m standin.Model
	url := serve.Serve(t, &m)
	for name, tc := range map[string]struct {
		gate string
		body string
		want reply
	}{
		"before the answer":   {"a", said("HOLD[a] THEN[b]", false), reply{Text: "ok"}},
		"after a tool":        {"b", said("HOLD[never] THEN[b]", true), reply{Text: "done"}},
		"once open, for good": {"a", said("HOLD[a]", false), reply{Text: "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := bufio.NewReader(post(t, url+"/v1/responses", tc.body).Body)
			head, err := events.ReadString('\n')
			if err != nil || head != "event: response.created\n" {
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
	url := serve.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		m.ServeHTTP(w, r)
	}))
	if err := post(t, url+"/v1/responses", said("HOLD[never]", false)).Body.Close(); err != nil {
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

// reply is what a streamed answer has in it.
type reply struct {
	Text, Tool, Input string
}

func read(t *testing.T, res *http.Response) reply {
	t.Helper()
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	return readEvents(t, res.Body)
}

// item is what an answer says, or the tool that it calls.
type item struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Input     string `json:"input"`
	Arguments string `json:"arguments"`
}

func (i item) reply() reply {
	r := reply{Tool: strings.TrimSpace(i.Namespace + " " + i.Name), Input: i.Input + i.Arguments}
	for _, c := range i.Content {
		r.Text += c.Text
	}
	return r
}

// readEvents reads an answer to its end. It is told twice: when it is done, and as a part of the whole.
func readEvents(t *testing.T, r io.Reader) reply {
	t.Helper()
	var done, whole []reply
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type     string `json:"type"`
			Item     item   `json:"item"`
			Response struct {
				Output []item `json:"output"`
			} `json:"response"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		switch e.Type {
		case "response.output_item.done":
			done = append(done, e.Item.reply())
		case "response.completed":
			for _, i := range e.Response.Output {
				whole = append(whole, i.reply())
			}
		}
	}
	if err := lines.Err(); err != nil || len(done) != 1 || !cmp.Equal(done, whole) {
		t.Fatalf("the stream has %+v, and as a whole %+v, %v", done, whole, err)
	}
	return done[0]
}
