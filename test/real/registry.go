package real

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Record is what one process wrote about itself.
type Record struct {
	PID        int    `json:"pid"`
	Session    string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	Started    int64  `json:"startedAt"` // milliseconds since the Unix epoch
	ProcStart  string `json:"procStart"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Entrypoint string `json:"entrypoint"`
	Domain     string `json:"pidDomain"`
	Tmux       string `json:"tmux"`
	Socket     string `json:"messagingSocketPath"`
	Name       string `json:"name"`
	NameSource string `json:"nameSource"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor"`
	Since      int64  `json:"statusUpdatedAt"` // milliseconds since the Unix epoch
	Job        string `json:"jobId"`
	Parked     string `json:"parkedJobId"`
	Spare      bool   `json:"spare"`
}

// alive tells whether the process that wrote r is there; a zombie is not.
func (r Record) alive() bool {
	state, start := stat(r.PID)
	return state != "" && state != "Z" && start == r.ProcStart
}

// Row is a session as the client's own list of sessions tells of it.
type Row struct {
	PID     int
	Session string
	Name    string
	Cwd     string
	Kind    string // "interactive", or "bg" for a background job
	Status  string // "busy", "idle" or "waiting"
	Waiting string // what it waits for
	Job     string // the id of the background job
	Started int64  // milliseconds since the Unix epoch
}

// ListedStatus is the status that the client's list shows for one in a record: it calls a session busy whose turn has
// ended and whose background shell still runs.
func ListedStatus(status string) string {
	if status == "shell" {
		return "busy"
	}
	return status
}

// Row is r as the list shows it.
func (r Record) Row() Row {
	return Row{r.PID, r.Session, r.Name, r.Cwd, r.Kind, ListedStatus(r.Status), r.WaitingFor, r.Job, r.Started}
}

var recordName = regexp.MustCompile(`^[0-9]+\.json$`)

// Registry reads all records, those that the dead have left too. A record is rewritten in place: one that is read in
// the middle of it is an error, and one to read again.
func (h *Home) Registry() ([]Record, error) {
	dir := filepath.Join(h.Claude(), "sessions")
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil // no client has run yet
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	var records []Record
	for _, e := range entries {
		if !recordName.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a record: %w", err)
		}
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Name(), err)
		}
		if strconv.Itoa(r.PID)+".json" != e.Name() {
			return nil, fmt.Errorf("%s says that it is of %d", e.Name(), r.PID)
		}
		records = append(records, r)
	}
	return records, nil
}

// Live are the sessions that the registry holds: its records without those of the dead, of windows that have handed
// their session to a background job, and of processes that wait for a session.
func (h *Home) Live() ([]Record, error) {
	records, err := h.Registry()
	return slices.DeleteFunc(records, func(r Record) bool { return !r.alive() || r.Parked != "" || r.Spare }), err
}
