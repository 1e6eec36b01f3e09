package events

import "strconv"

// The harnesses: the agent programs whose sessions are watched.
const (
	Claude = "claude"
	Codex  = "codex"
)

// Status is what a peer is doing, in words that are the same for every harness. The harness's own word is in
// [Peer.VendorStatus].
type Status string

// The statuses. Unknown is a live peer whose harness does not say, or says a word that is not known here.
const (
	Busy    Status = "busy"
	Idle    Status = "idle"
	Waiting Status = "waiting"
	Unknown Status = "unknown"
)

// Peer is one live process that holds one session, as it was seen. A zero field is a fact that is absent, and so is
// its key on the wire; only harness, session, pid, start, status and addressable are always there.
type Peer struct {
	Harness string `json:"harness"`
	Session string `json:"session"`
	PID     int    `json:"pid"`
	// Start tells the process from others that bear its pid at other times. Linux: clock ticks since boot, from
	// field 22 of /proc/<pid>/stat; macOS: Unix seconds; "0" where it could not be read.
	Start string `json:"start"`

	Name       string `json:"name,omitzero"`
	Cwd        string `json:"cwd,omitzero"`
	Home       string `json:"home,omitzero"` // the harness's folder in which the peer was found
	Kind       string `json:"kind,omitzero"`
	Entrypoint string `json:"entrypoint,omitzero"`
	Version    string `json:"version,omitzero"` // of the harness

	Status       Status `json:"status"`
	VendorStatus string `json:"vendor_status,omitzero"`
	WaitingFor   string `json:"waiting_for,omitzero"`
	StatusSince  Time   `json:"status_since,omitzero"`
	Started      Time   `json:"started,omitzero"`

	Addressable bool   `json:"addressable"` // mail can be put before it
	Socket      string `json:"socket,omitzero"`
	Endpoint    string `json:"endpoint,omitzero"` // see [Endpoint]
	Tmux        string `json:"tmux,omitzero"`     // "session:@window.%pane"
	Job         string `json:"job,omitzero"`      // the background job this peer is
	Parent      string `json:"parent,omitzero"`   // the session that started this one as its sub-agent
}

// ID tells peers apart. Two live processes may hold one session; they are two peers.
type ID struct {
	Host, Harness, Session string
	PID                    int
	Start                  string
}

// ID is the identity of p on host.
func (p Peer) ID(host string) ID {
	return ID{Host: host, Harness: p.Harness, Session: p.Session, PID: p.PID, Start: p.Start}
}

// Instance is the process as it stands in subjects: "<pid>-<start>".
func (p Peer) Instance() string { return strconv.Itoa(p.PID) + "-" + p.Start }
