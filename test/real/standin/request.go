package standin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// request is the part of a request that an answer depends on.
type request struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Tools    []tool    `json:"tools"`
	Messages []message `json:"messages"`
}

type tool struct {
	Name string `json:"name"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a list of blocks; on the wire it may also be one string.
type content []block

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return fmt.Errorf("decode content: %w", err)
	}
	*c = blocks
	return nil
}

func decodeRequest(data []byte) (request, error) {
	var r request
	if err := json.Unmarshal(data, &r); err != nil {
		return request{}, fmt.Errorf("decode request: %w", err)
	}
	return r, nil
}

// reminder is what the client itself puts between the user's words.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// said is what the user said last, and whether a tool has answered since.
func (r request) said() (text string, called bool) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			continue
		}
		var words []string
		for _, b := range m.Content {
			switch b.Type {
			case "tool_result":
				called = true
			case "text":
				words = append(words, reminder.ReplaceAllString(b.Text, ""))
			}
		}
		if text := strings.TrimSpace(strings.Join(words, "\n")); text != "" {
			return text, called
		}
	}
	return "", called
}

func (r request) has(name string) bool { return slices.Contains(r.Tools, tool{Name: name}) }
