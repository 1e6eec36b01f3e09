package claude

import (
	"strings"

	"peerbus/events"
)

// statuses are the words of Claude Code that are known. "shell" is a turn that has ended while a background shell
// still runs: to somebody who wants to say something, the session is idle.
var statuses = map[string]events.Status{
	"busy":    events.Busy,
	"idle":    events.Idle,
	"shell":   events.Idle,
	"waiting": events.Waiting,
}

// peer is what r says of a live process that started at start, found in home.
func (r Record) peer(home, start string) events.Peer {
	p := events.Peer{
		Harness: events.Claude, Session: r.Session, PID: r.PID, Start: start,
		Name: r.Name, Cwd: r.Cwd, Home: home, Kind: r.Kind, Entrypoint: r.Entrypoint, Version: r.Version,
		Status: events.Unknown, VendorStatus: r.Status, WaitingFor: r.WaitingFor,
		StatusSince: r.StatusSince, Started: r.Started,
		Socket: r.Socket, Tmux: r.Tmux, Job: r.Job,
	}
	if known, ok := statuses[r.Status]; ok {
		p.Status = known
	}
	// A path that was cut leads elsewhere, and one that is not absolute leads to a place that depends on who asks.
	if strings.HasPrefix(r.Socket, "/") && r.whole("messagingSocketPath") {
		p.Addressable = true
		p.Endpoint = events.Endpoint{PID: r.PID, Name: r.Name, Socket: r.Socket}.String()
	}
	return p
}
