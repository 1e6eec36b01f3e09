package real

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
)

// Agents is what `claude agents --json` prints: the client's own list of the sessions that are live.
func (h *Home) Agents(c Client) ([]Row, error) {
	out, err := h.run(c, "agents", "--json")
	if err != nil {
		return nil, err
	}
	var agents []struct {
		PID     int    `json:"pid"`
		Session string `json:"sessionId"`
		Name    string `json:"name"`
		Cwd     string `json:"cwd"`
		Kind    string `json:"kind"`
		Status  string `json:"status"`
		Waiting string `json:"waitingFor"`
		Job     string `json:"id"`
		Started int64  `json:"startedAt"`
	}
	if err := json.Unmarshal(out, &agents); err != nil {
		return nil, fmt.Errorf("decode the list of agents: %w", err)
	}
	var rows []Row
	for _, a := range agents {
		if a.Kind == "background" { // the registry's word is "bg"
			a.Kind = "bg"
		}
		rows = append(rows, Row{a.PID, a.Session, a.Name, a.Cwd, a.Kind, a.Status, a.Waiting, a.Job, a.Started})
	}
	return rows, nil
}

// Same is nil when both lists hold the same rows, in any order, and else an error that shows the difference.
func Same(want, got []Row) error {
	order := func(a, b Row) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Session, b.Session)) }
	if d := gocmp.Diff(slices.SortedFunc(slices.Values(want), order), slices.SortedFunc(slices.Values(got), order)); d != "" {
		return fmt.Errorf("the lists differ (-want +got):\n%s", d)
	}
	return nil
}
