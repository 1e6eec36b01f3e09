package standin

import (
	"encoding/json"
	"fmt"
	"io"
)

// The events of a streamed answer, each with the keys that the client reads.
type (
	responseEvent struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
	}
	response struct {
		ID     string   `json:"id"`
		Object string   `json:"object"`
		Status string   `json:"status"`
		Output []output `json:"output"`
		Usage  *usage   `json:"usage,omitzero"`
	}
	usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
	itemEvent struct {
		Type  string `json:"type"`
		Index int    `json:"output_index"`
		Item  output `json:"item"`
	}
	output struct {
		Type      string       `json:"type"`
		ID        string       `json:"id"`
		Status    string       `json:"status"`
		Role      string       `json:"role,omitzero"`
		Content   []outputText `json:"content,omitzero"`
		Call      string       `json:"call_id,omitzero"`
		Namespace string       `json:"namespace,omitzero"`
		Name      string       `json:"name,omitzero"`
		Input     string       `json:"input,omitzero"`     // of a tool that takes text
		Arguments string       `json:"arguments,omitzero"` // of a tool that takes an object
	}
	outputText struct {
		Type        string   `json:"type"`
		Text        string   `json:"text"`
		Annotations []string `json:"annotations"`
	}
)

// event is one of those above.
type event interface{ responseEvent | itemEvent }

// send writes one server-sent event.
func send[E event](w io.Writer, name string, e E) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// begin writes the head of an answer; id tells it from other answers.
func begin(w io.Writer, id string) error {
	return send(w, "response.created", responseEvent{"response.created", response{
		ID: "resp_" + id, Object: "response", Status: "in_progress", Output: []output{},
	}})
}

// finish writes what a says, and the end of the answer.
func finish(w io.Writer, id string, a answer) error {
	o, err := a.output(id)
	if err != nil {
		return err
	}
	if err := send(w, "response.output_item.done", itemEvent{Type: "response.output_item.done", Item: o}); err != nil {
		return err
	}
	return send(w, "response.completed", responseEvent{"response.completed", response{
		ID: "resp_" + id, Object: "response", Status: "completed", Output: []output{o}, Usage: &usage{1, 1, 2},
	}})
}

func (a answer) output(id string) (output, error) {
	switch {
	case a.run != "":
		code, err := a.shell()
		return output{
			Type: "custom_tool_call", ID: "ctc_" + id, Status: "completed", Call: "call_" + id, Name: "exec", Input: code,
		}, err
	case a.spawn != "":
		args, err := a.agent()
		return output{
			Type: "function_call", ID: "fc_" + id, Status: "completed", Call: "call_" + id,
			Namespace: "collaboration", Name: "spawn_agent", Arguments: args,
		}, err
	default:
		return output{
			Type: "message", ID: "msg_" + id, Status: "completed", Role: "assistant",
			Content: []outputText{{Type: "output_text", Text: a.text, Annotations: []string{}}},
		}, nil
	}
}
