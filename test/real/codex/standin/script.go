package standin

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// answer is what the model says to one request: a text, or one call of a tool.
type answer struct {
	hold  string // the gate to wait at first; "" for none
	text  string
	run   string // what to run in the shell
	spawn string // what to tell a sub-agent
}

var (
	holdWord  = regexp.MustCompile(`HOLD\[([^\]]*)\]`)
	thenWord  = regexp.MustCompile(`THEN\[([^\]]*)\]`)
	runWord   = regexp.MustCompile(`RUN\[([^\]]*)\]`)
	spawnWord = regexp.MustCompile(`SPAWN\[([^\]]*)\]`)
)

// inside is what stands in the brackets of a word in text, "" without that word.
func inside(word *regexp.Regexp, text string) string {
	if m := word.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Title is the title that is made up for every thread.
const Title = "Talk to a stand-in"

// answer is what the script says to r.
func (r request) answer() answer {
	if r.Text.Format != nil {
		return answer{text: fmt.Sprintf(`{"title":%q}`, Title)}
	}
	text, called := r.said()
	if called {
		return answer{hold: inside(thenWord, text), text: "done"}
	}
	a := answer{hold: inside(holdWord, text), text: "ok", run: inside(runWord, text)}
	if gate := inside(spawnWord, text); gate != "" {
		a.spawn = "HOLD[" + gate + "]"
	}
	return a
}

// shell is what the shell tool is called with: the client runs JavaScript, which calls the tool.
func (a answer) shell() (string, error) {
	args, err := json.Marshal(struct {
		Cmd         string `json:"cmd"`
		Permissions string `json:"sandbox_permissions"`
		Question    string `json:"justification"`
	}{a.run, "require_escalated", "may it run?"})
	if err != nil {
		return "", fmt.Errorf("encode the shell's arguments: %w", err)
	}
	return fmt.Sprintf("const r = await tools.exec_command(%s); text(r.output);", args), nil
}

// agent is what the tool that starts a sub-agent is called with.
func (a answer) agent() (string, error) {
	args, err := json.Marshal(struct {
		Task    string `json:"task_name"`
		Message string `json:"message"`
		History string `json:"fork_turns"`
	}{"helper", a.spawn, "none"})
	if err != nil {
		return "", fmt.Errorf("encode the sub-agent's arguments: %w", err)
	}
	return string(args), nil
}
