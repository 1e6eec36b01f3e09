package reconcile

import (
	"slices"

	"peerbus/events"
)

// Diff returns the events that lead from view to s: first when nobody watched, then the goings, then what changed or
// appeared, each in the order of the peers' IDs, so that a peer ends before another of its process begins. It reads
// no clock: the events carry s.At. They have no id and no epoch yet.
//
// Within the scope of s, a peer that the log has and s does not have goes; s is what [Snapshot.Keeping] made of what
// was seen. A peer goes with the reason that s gives, or as switched when its process is seen with another session.
//
// A peer that is found gone by the first look after a blindness is marked as missed since then.
func Diff(view events.View, s Snapshot) []events.Event {
	meta := events.Meta{Time: events.At(s.At), Host: s.Host}
	var out []events.Event
	var blindFrom events.Time
	for _, b := range s.Blind {
		from := events.At(b.From)
		if blindFrom == 0 || from != 0 && from < blindFrom {
			blindFrom = from
		}
		out = append(out, events.WatchResumed{Meta: meta, BlindFrom: from, BlindTo: events.At(b.To), Why: b.Why})
	}
	for _, gone := range goings(view, s) {
		gone.Meta = meta
		if len(s.Blind) > 0 {
			gone.Missed, gone.NotBefore = true, blindFrom
		}
		out = append(out, gone)
	}
	peers := slices.Clone(s.Peers)
	slices.SortFunc(peers, func(a, b events.Peer) int { return a.ID(s.Host).Compare(b.ID(s.Host)) })
	for _, p := range peers {
		last, ok := view[p.ID(s.Host)]
		if !ok {
			out = append(out, events.PeerAppeared{Meta: meta, Peer: p})
			continue
		}
		out = append(out, changes(meta, last.Peer(), p)...)
	}
	return out
}

func goings(view events.View, s Snapshot) []events.PeerGone {
	seen := s.seen()
	var out []events.PeerGone
	for id, last := range view {
		p := last.Peer()
		if id.Host != s.Host || !s.covers(p) || seen.has(p) {
			continue
		}
		gone := events.PeerGone{Peer: p}
		if going, ok := s.Gone[p.ID("")]; ok {
			gone.Reason, gone.Job, gone.Successor = going.Reason, going.Job, going.Successor
		} else if seen.switched(p) {
			next := seen.processes[processOf(p)]
			gone.Reason, gone.Successor = events.Switched, events.Ref{Session: next.Session, Instance: next.Instance()}
		} else {
			continue
		}
		out = append(out, gone)
	}
	slices.SortFunc(out, func(a, b events.PeerGone) int { return a.Peer.ID(s.Host).Compare(b.Peer.ID(s.Host)) })
	return out
}

// changes are the events from a peer to itself: what is not about its status first, still with the old status.
func changes(meta events.Meta, old, now events.Peer) []events.Event {
	var out []events.Event
	other, status := otherFields(old, now), statusFields(old, now)
	if len(other) > 0 || len(status) == 0 && old.StatusSince != now.StatusSince {
		between := now
		if len(status) > 0 {
			between.Status, between.VendorStatus = old.Status, old.VendorStatus
			between.WaitingFor, between.StatusSince = old.WaitingFor, old.StatusSince
		}
		out = append(out, events.PeerChanged{Meta: meta, Peer: between, Was: was(old, between, other)})
	}
	if len(status) > 0 {
		out = append(out, events.StatusChanged{Meta: meta, Peer: now, Was: was(old, now, status)})
	}
	return out
}

// was holds the old values of the fields named, and of status_since where that is another one too.
func was(old, now events.Peer, fields []string) events.Was {
	if old.StatusSince != now.StatusSince {
		fields = append(fields, "status_since")
	}
	slices.Sort(fields)
	w := events.Was{Fields: fields}
	for _, f := range fields {
		copyField[f](&w.Old, old)
	}
	return w
}

// copyField copies a compared field, named by its key on the wire.
var copyField = map[string]func(to *events.Peer, from events.Peer){
	"status":        func(to *events.Peer, from events.Peer) { to.Status = from.Status },
	"vendor_status": func(to *events.Peer, from events.Peer) { to.VendorStatus = from.VendorStatus },
	"waiting_for":   func(to *events.Peer, from events.Peer) { to.WaitingFor = from.WaitingFor },
	"status_since":  func(to *events.Peer, from events.Peer) { to.StatusSince = from.StatusSince },
	"name":          func(to *events.Peer, from events.Peer) { to.Name = from.Name },
	"cwd":           func(to *events.Peer, from events.Peer) { to.Cwd = from.Cwd },
	"home":          func(to *events.Peer, from events.Peer) { to.Home = from.Home },
	"kind":          func(to *events.Peer, from events.Peer) { to.Kind = from.Kind },
	"entrypoint":    func(to *events.Peer, from events.Peer) { to.Entrypoint = from.Entrypoint },
	"version":       func(to *events.Peer, from events.Peer) { to.Version = from.Version },
	"started":       func(to *events.Peer, from events.Peer) { to.Started = from.Started },
	"addressable":   func(to *events.Peer, from events.Peer) { to.Addressable = from.Addressable },
	"socket":        func(to *events.Peer, from events.Peer) { to.Socket = from.Socket },
	"endpoint":      func(to *events.Peer, from events.Peer) { to.Endpoint = from.Endpoint },
	"tmux":          func(to *events.Peer, from events.Peer) { to.Tmux = from.Tmux },
	"job":           func(to *events.Peer, from events.Peer) { to.Job = from.Job },
	"parent":        func(to *events.Peer, from events.Peer) { to.Parent = from.Parent },
}

func statusFields(old, now events.Peer) []string {
	return differing(old, now, "status", "vendor_status", "waiting_for")
}

func otherFields(old, now events.Peer) []string {
	return differing(old, now, "name", "cwd", "home", "kind", "entrypoint", "version", "started", "addressable",
		"socket", "endpoint", "tmux", "job", "parent")
}

func differing(old, now events.Peer, fields ...string) []string {
	if old == now {
		return nil
	}
	var out []string
	for _, f := range fields {
		var a, b events.Peer
		copyField[f](&a, old)
		copyField[f](&b, now)
		if a != b {
			out = append(out, f)
		}
	}
	return out
}
