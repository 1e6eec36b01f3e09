package reconcile

import (
	"slices"

	"peerbus/events"
)

// Keeping is s with the peers that the log has within its scope and nothing speaks against: those whose place could
// not be read, and those for whose going no reason is given. A process that is seen with another session is not kept
// with the old one.
func (s Snapshot) Keeping(view events.View) Snapshot {
	seen := s.seen()
	kept := slices.Clone(s.Peers)
	for id, last := range view {
		p := last.Peer()
		if id.Host != s.Host || !s.covers(p) || seen.has(p) {
			continue
		}
		_, gone := s.Gone[p.ID("")]
		if holdsAny(s.Unread, p) || !gone && !seen.switched(p) {
			kept = append(kept, p)
		}
	}
	s.Peers = kept
	return s
}

// sightings are the peers of a snapshot, by peer and by process.
type sightings struct {
	peers     map[events.ID]events.Peer
	processes map[process]events.Peer
}

// process is one process as a harness's home knows it.
type process struct {
	harness, home, start string
	pid                  int
}

func processOf(p events.Peer) process { return process{p.Harness, p.Home, p.Start, p.PID} }

func (s Snapshot) seen() sightings {
	seen := sightings{make(map[events.ID]events.Peer, len(s.Peers)), make(map[process]events.Peer, len(s.Peers))}
	for _, p := range s.Peers {
		seen.peers[p.ID("")] = p
		if single(p) {
			seen.processes[processOf(p)] = p
		}
	}
	return seen
}

// single tells whether the peer's process holds one session at a time. A Codex daemon holds many threads, so one
// thread seen says nothing of another.
func single(p events.Peer) bool { return p.Harness == events.Claude }

func (v sightings) has(p events.Peer) bool {
	_, ok := v.peers[p.ID("")]
	return ok
}

// switched tells whether p's process is seen with another session.
func (v sightings) switched(p events.Peer) bool {
	q, ok := v.processes[processOf(p)]
	return ok && q.Session != p.Session
}
