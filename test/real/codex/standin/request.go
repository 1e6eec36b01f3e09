package standin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// request is the part of a request that an answer depends on.
type request struct {
	Stream bool   `json:"stream"`
	Input  []item `json:"input"`
	Text   struct {
		Format *format `json:"format"`
	} `json:"text"`
}

// format is the form that the answer is to have; without one it is free.
type format struct {
	Type string `json:"type"`
}

// item is one thing in a thread: a message, or a tool's call or result.
type item struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content []part `json:"content"`
}

// part is a piece of a message. What one agent tells another is in Encrypted, and is as it was said: only the real
// model encrypts it.
type part struct {
	Text      string `json:"text"`
	Encrypted string `json:"encrypted_content"`
}

func decodeRequest(data []byte) (request, error) {
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		return request{}, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

// words is what the user, or the agent that started this one, says in i; "" if it is no message of theirs. The client
// itself speaks as the user too, in elements.
func (i item) words() string {
	var words []string
	for _, p := range i.Content {
		switch {
		case i.Type == "agent_message":
			words = append(words, p.Encrypted)
		case i.Type == "message" && i.Role == "user" && !strings.HasPrefix(p.Text, "<"):
			words = append(words, p.Text)
		}
	}
	return strings.TrimSpace(strings.Join(words, "\n"))
}

// said is what was said last, and whether a tool has answered since.
func (r request) said() (text string, called bool) {
	for _, i := range slices.Backward(r.Input) {
		if i.Type == "function_call_output" || i.Type == "custom_tool_call_output" {
			called = true
		}
		if text := i.words(); text != "" {
			return text, called
		}
	}
	return "", called
}
