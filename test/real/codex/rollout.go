package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Rollout is what a thread has written down of itself.
type Rollout struct {
	Thread     string          `json:"id"`
	Root       string          `json:"session_id"` // the thread at the top of those that started one another
	Parent     string          `json:"parent_thread_id"`
	Cwd        string          `json:"cwd"`
	Originator string          `json:"originator"`
	Source     json.RawMessage `json:"source"`
	Kind       string          `json:"thread_source"`
	Nickname   string          `json:"agent_nickname"`
	Version    string          `json:"cli_version"`

	Turn Turn `json:"-"`
}

// Turn is the last thing that a rollout says of a turn.
type Turn string

// What a rollout can say; of a thread that was not told anything yet it says nothing.
const (
	Started   Turn = "task_started"
	Completed Turn = "task_complete"
	Aborted   Turn = "turn_aborted"
)

// errNoRollout is that a thread has written nothing down.
var errNoRollout = errors.New("there is no rollout")

// Rollout reads the whole rollout of a thread. The line that is being written when it reads is not in it.
func (h *Home) Rollout(thread string) (Rollout, error) {
	found, err := filepath.Glob(filepath.Join(h.Codex(), "sessions", "*", "*", "*", "rollout-*-"+thread+".jsonl"))
	if err != nil {
		return Rollout{}, err
	}
	if len(found) == 0 {
		return Rollout{}, errNoRollout
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return Rollout{}, err
	}
	var r Rollout
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := r.add(line); err != nil {
			return Rollout{}, fmt.Errorf("read the rollout of %s: %w: %s", thread, err, line)
		}
	}
	return r, nil
}

func (r *Rollout) add(line []byte) error {
	var head struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return err
	}
	switch head.Type {
	case "session_meta":
		return json.Unmarshal(head.Payload, r)
	case "event_msg":
		var event struct {
			Type Turn `json:"type"`
		}
		if err := json.Unmarshal(head.Payload, &event); err != nil {
			return err
		}
		if event.Type == Started || event.Type == Completed || event.Type == Aborted {
			r.Turn = event.Type
		}
	}
	return nil
}
