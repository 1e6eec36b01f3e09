package standin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// answer is what the model says to one request: a text, or one call of a tool.
type answer struct {
	hold string // the gate to wait at first; "" for none
	text string
	bash *bash
	menu *menu
}

// The inputs of the tools that are called, as the client expects them.
type (
	bash struct {
		Command     string `json:"command"`
		Description string `json:"description"`
		Background  bool   `json:"run_in_background,omitzero"`
	}
	menu struct {
		Questions []question `json:"questions"`
	}
	question struct {
		Question    string   `json:"question"`
		Header      string   `json:"header"`
		MultiSelect bool     `json:"multiSelect"`
		Options     []option `json:"options"`
	}
	option struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
)

var (
	holdWord = regexp.MustCompile(`HOLD\[([^\]]*)\]`)
	thenWord = regexp.MustCompile(`THEN\[([^\]]*)\]`)
	bashWord = regexp.MustCompile(`RUNBASH\[([^\]]*)\]`)
	backWord = regexp.MustCompile(`BGSHELL\[([^\]]*)\]`)
)

// inside is what stands in the brackets of a word in text, "" without that word.
func inside(word *regexp.Regexp, text string) string {
	if m := word.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// answer is what the script says to r.
func (r request) answer() answer {
	if len(r.Tools) == 0 {
		return answer{text: "ok"}
	}
	text, called := r.said()
	if called {
		return answer{hold: inside(thenWord, text), text: "done"}
	}
	a := answer{hold: inside(holdWord, text), text: "ok"}
	switch cmd, back := inside(bashWord, text), inside(backWord, text); {
	case cmd != "" && r.has("Bash"):
		a.bash = &bash{Command: cmd, Description: "run it"}
	case back != "" && r.has("Bash"):
		a.bash = &bash{Command: back, Description: "run it", Background: true}
	case strings.Contains(text, "ASKMENU") && r.has("AskUserQuestion"):
		a.menu = &menu{Questions: []question{{
			Question: "Which one?", Header: "Pick",
			Options: []option{{Label: "One", Description: "the first"}, {Label: "Two", Description: "the second"}},
		}}}
	}
	return a
}

// tool is the name and the input of the tool that a calls, "" for none.
func (a answer) tool() (name string, input []byte, err error) {
	switch {
	case a.bash != nil:
		name = "Bash"
		input, err = json.Marshal(a.bash)
	case a.menu != nil:
		name = "AskUserQuestion"
		input, err = json.Marshal(a.menu)
	}
	if err != nil {
		return "", nil, fmt.Errorf("encode the input of %s: %w", name, err)
	}
	return name, input, nil
}
