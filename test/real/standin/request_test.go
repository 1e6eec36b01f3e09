package standin

import (
	"encoding/json"
	"testing"
)

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"RUNBASH[x]"}]}`))
	f.Add([]byte(`{"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"THEN[a]"}]}]}`))
	f.Add([]byte(`{"messages":[{"content":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRequest(data)
		if err != nil {
			return
		}
		name, input, err := r.answer().tool()
		if err != nil {
			t.Fatal(err)
		}
		if name != "" && !r.has(name) {
			t.Errorf("calls %s, which the request does not offer", name)
		}
		if name != "" && !json.Valid(input) {
			t.Errorf("input of %s: %q", name, input)
		}
	})
}
