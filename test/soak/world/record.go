package world

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"peerbus/events"
)

// record is what a stand-in writes about itself: the fields and their order are those of Claude Code 2.1.332.
type record struct {
	PID             int      `json:"pid"`
	SessionID       string   `json:"sessionId"`
	Cwd             string   `json:"cwd"`
	StartedAt       int64    `json:"startedAt"`
	ProcStart       string   `json:"procStart,omitzero"`
	Version         string   `json:"version"`
	PeerProtocol    int      `json:"peerProtocol"`
	PeerFeatures    []string `json:"peerFeatures"`
	Kind            string   `json:"kind"`
	Entrypoint      string   `json:"entrypoint"`
	PidDomain       string   `json:"pidDomain,omitzero"`
	JobID           string   `json:"jobId,omitzero"`
	Tmux            string   `json:"tmux,omitzero"`
	Socket          string   `json:"messagingSocketPath,omitzero"`
	Name            string   `json:"name,omitzero"`
	NameSource      string   `json:"nameSource,omitzero"`
	NameSince       int64    `json:"nameSince,omitzero"`
	Status          string   `json:"status,omitzero"`
	WaitingFor      string   `json:"waitingFor,omitzero"`
	UpdatedAt       int64    `json:"updatedAt,omitzero"`
	StatusUpdatedAt int64    `json:"statusUpdatedAt,omitzero"`
}

// peer is what a watcher that reads the record rightly says about it.
func (r record) peer(home, start string) events.Peer {
	p := events.Peer{
		Harness: events.Claude, Session: r.SessionID, PID: r.PID, Start: start,
		Name: r.Name, Cwd: r.Cwd, Home: home, Kind: r.Kind, Entrypoint: r.Entrypoint, Version: r.Version,
		Status: events.Unknown, VendorStatus: r.Status, WaitingFor: r.WaitingFor,
		StatusSince: events.Time(r.StatusUpdatedAt), Started: events.Time(r.StartedAt),
		Addressable: r.Socket != "", Socket: r.Socket, Tmux: r.Tmux, Job: r.JobID,
	}
	switch r.Status {
	case "busy", "idle", "waiting":
		p.Status = events.Status(r.Status)
	case "shell":
		p.Status = events.Idle
	}
	if p.Addressable {
		p.Endpoint = events.Endpoint{PID: p.PID, Name: p.Name, Socket: p.Socket}.String()
	}
	return p
}

func (r record) path(home string) string {
	return filepath.Join(home, "sessions", strconv.Itoa(r.PID)+".json")
}

// between is how long, at most, a writer pauses between the two writes of one rewrite. A pause in which a reader is
// sure to meet half a record is longer than what the vendor's program was seen to leave.
const between = 3 * time.Millisecond

// write rewrites the record in place, as Claude Code does: open, truncate, write. A reader can meet it empty, and half
// of it where it is written in two.
func (r record) write(home string, rng *rand.Rand) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	f, err := os.OpenFile(r.path(home), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	defer f.Close()
	if rng.IntN(2) == 0 {
		cut := 1 + rng.IntN(len(data)-1)
		if _, err := f.Write(data[:cut]); err != nil {
			return fmt.Errorf("write record: %w", err)
		}
		if rng.IntN(4) == 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(between))))
		}
		data = data[cut:]
	}
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}
