package standin

import (
	"encoding/json"
	"fmt"
	"io"
)

// The events of a streamed answer, each with the keys that the client reads.
type (
	messageStart struct {
		Type    string      `json:"type"`
		Message messageHead `json:"message"`
	}
	messageHead struct {
		ID           string   `json:"id"`
		Type         string   `json:"type"`
		Role         string   `json:"role"`
		Model        string   `json:"model"`
		Content      []string `json:"content"`
		StopReason   *string  `json:"stop_reason"`
		StopSequence *string  `json:"stop_sequence"`
		Usage        usage    `json:"usage"`
	}
	usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
	blockStart struct {
		Type  string      `json:"type"`
		Index int         `json:"index"`
		Block streamBlock `json:"content_block"`
	}
	streamBlock struct {
		Type  string    `json:"type"`
		Text  *string   `json:"text,omitzero"`
		ID    string    `json:"id,omitzero"`
		Name  string    `json:"name,omitzero"`
		Input *struct{} `json:"input,omitzero"`
	}
	blockDelta struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta delta  `json:"delta"`
	}
	delta struct {
		Type        string `json:"type"`
		Text        string `json:"text,omitzero"`
		PartialJSON string `json:"partial_json,omitzero"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	messageDelta struct {
		Type  string    `json:"type"`
		Delta stopDelta `json:"delta"`
		Usage usage     `json:"usage"`
	}
	stopDelta struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	messageStop struct {
		Type string `json:"type"`
	}
)

// event is one of those above.
type event interface {
	messageStart | blockStart | blockDelta | blockStop | messageDelta | messageStop
}

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
func begin(w io.Writer, model, id string) error {
	return send(w, "message_start", messageStart{"message_start", messageHead{
		ID: id, Type: "message", Role: "assistant", Model: model, Content: []string{}, Usage: usage{10, 1},
	}})
}

// finish writes what a says, and the end of the answer.
func finish(w io.Writer, id string, a answer) error {
	tool, input, err := a.tool()
	if err != nil {
		return err
	}
	block, d, stop := streamBlock{Type: "text", Text: new(string)}, delta{Type: "text_delta", Text: a.text}, "end_turn"
	if tool != "" {
		block = streamBlock{Type: "tool_use", ID: "toolu_" + id, Name: tool, Input: &struct{}{}}
		d = delta{Type: "input_json_delta", PartialJSON: string(input)}
		stop = "tool_use"
	}
	if err := send(w, "content_block_start", blockStart{"content_block_start", 0, block}); err != nil {
		return err
	}
	if err := send(w, "content_block_delta", blockDelta{"content_block_delta", 0, d}); err != nil {
		return err
	}
	if err := send(w, "content_block_stop", blockStop{"content_block_stop", 0}); err != nil {
		return err
	}
	if err := send(w, "message_delta", messageDelta{"message_delta", stopDelta{StopReason: stop}, usage{Output: 5}}); err != nil {
		return err
	}
	return send(w, "message_stop", messageStop{"message_stop"})
}
