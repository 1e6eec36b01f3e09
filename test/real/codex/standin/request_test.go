package standin

import (
	"encoding/json"
	"testing"
)

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"RUN[x]"}]}]}`))
	f.Add([]byte(`{"input":[{"type":"message","role":"user","content":[{"text":"THEN[a]"}]},{"type":"function_call_output"}]}`))
	f.Add([]byte(`{"text":{"format":{"type":"json_schema"}},"input":[{"type":"agent_message","content":[{"encrypted_content":"SPAWN[a]"}]}]}`))
	f.Add([]byte(`{"text":{"format":null},"input":[{"content":null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRequest(data)
		if err != nil {
			return
		}
		a := r.answer()
		o, err := a.output("1")
		if err != nil {
			t.Fatal(err)
		}
		if o.Name == "" && len(o.Content) != 1 {
			t.Errorf("neither calls nor says anything: %+v", o)
		}
		if o.Arguments != "" && !json.Valid([]byte(o.Arguments)) {
			t.Errorf("arguments of %s: %q", o.Name, o.Arguments)
		}
		if r.Text.Format != nil && !json.Valid([]byte(a.text)) {
			t.Errorf("the object asked for: %q", a.text)
		}
	})
}
