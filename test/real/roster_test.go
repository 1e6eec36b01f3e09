package real

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

// listed is a line of `watcher ls`.
type listed struct {
	Seq  uint64      `json:"seq"`
	Peer events.Peer `json:"peer"`
}

func (l listed) row() Row {
	p := l.Peer
	return Row{p.PID, p.Session, p.Name, p.Cwd, p.Kind, ListedStatus(p.VendorStatus), p.WaitingFor, p.Job, int64(p.Started)}
}

// roster is what `watcher ls` prints.
func (w *watcher) roster() ([]listed, error) {
	out, err := w.command(w.t.Context(), "ls").Output()
	if err != nil {
		return nil, explain(err)
	}
	var peers []listed
	for line := range bytes.Lines(out) {
		var l listed
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("decode %s: %w", line, err)
		}
		peers = append(peers, l)
	}
	return peers, nil
}

// agrees waits until the roster is what the client itself lists, that many sessions, and nothing that was written down
// meanwhile is still to be seen.
func (w *watcher) agrees(c Client, sessions int) {
	w.t.Helper()
	w.home.Until("the roster is what the client lists", func() error {
		agents, err := w.home.Agents(c)
		if err != nil {
			return err
		}
		peers, err := w.roster()
		if err != nil {
			return err
		}
		var rows []Row
		for _, l := range peers {
			rows = append(rows, l.row())
		}
		if err := Same(agents, rows); err != nil {
			return err
		}
		if len(agents) != sessions {
			return fmt.Errorf("%d sessions, want %d", len(agents), sessions)
		}
		return w.isUpToDate(peers)
	})
}

// isUpToDate is nil when the last change of each live record's status has been seen.
func (w *watcher) isUpToDate(peers []listed) error {
	live, err := w.home.Live()
	if err != nil {
		return err
	}
	want, got := map[int]events.Time{}, map[int]events.Time{}
	for _, r := range live {
		want[r.PID] = events.Time(r.Since)
	}
	for _, l := range peers {
		got[l.Peer.PID] = l.Peer.StatusSince
		w.reached = max(w.reached, l.Seq)
	}
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("since when each process has its status (-want +got):\n%s", d)
	}
	return nil
}

// doctor is what `watcher doctor` says, a fact a line. It may find something wrong with the machine.
func (w *watcher) doctor() string {
	w.t.Helper()
	out, err := w.command(w.t.Context(), "doctor").Output()
	if _, found := errors.AsType[*exec.ExitError](err); err != nil && !found {
		w.t.Fatal(err)
	}
	return string(out)
}
