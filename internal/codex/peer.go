package codex

import (
	"path/filepath"
	"runtime"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
)

// kinds say what a thread is for by the program that began it. Codex's own field for that misleads: it calls a window
// that goes through the daemon an editor's.
var kinds = map[string]string{
	"codex-tui":    "interactive",
	"codex_cli_rs": "interactive", // in threads that older versions have begun
	"codex_exec":   "exec",
}

// soughtEvery is how often a rollout that is in none of the folders where it can be is looked for among what the holder
// has open. A window in which nothing was said yet has none.
const soughtEvery = 10 * time.Second

// peer is what is known of a thread that is held by that process, as a peer. Only a sub-agent has a name: what Codex
// calls a thread otherwise, in other files, is the beginning of what its user has said.
func (r *reading) peer(hm *home, t *thread, who proc.Identity, ks []events.Peer) events.Peer {
	r.refresh(hm, t, who)
	m, turn := t.rollout.meta, t.rollout.tail.turn
	p := events.Peer{
		Harness: events.Codex, Session: t.id, PID: who.PID, Start: publishedStart(who, ks), Home: hm.path,
		Name: m.nickname, Cwd: m.cwd, Kind: kinds[m.originator], Entrypoint: m.originator, Version: m.version, Parent: m.parent,
		Status: events.Unknown, VendorStatus: turn.word, StatusSince: turn.at,
	}
	if at, ok := born(t.id); ok {
		p.Started = events.At(at)
	}
	if turn.status != "" {
		p.Status = turn.status
	}
	if heard, ok := hm.daemon.heard(t.id); ok {
		heard.improve(&p)
	} else if r.watching && !hm.daemon.wasAsked() {
		stay(&p, ks)
	}
	return p
}

// stay has p say what the log has by the daemon's word, if that is more than the files say: the daemon was not asked
// yet. Without it a watcher that starts would tell of everybody who waits that they work, and at once that they wait.
func stay(p *events.Peer, ks []events.Peer) {
	for _, k := range ks {
		_, files := turnWords[k.VendorStatus]
		if k.ID("") == p.ID("") && !files && (p.Status == events.Unknown || p.Status == events.Busy && k.Status == events.Waiting) {
			p.Status, p.VendorStatus, p.WaitingFor, p.StatusSince = k.Status, k.VendorStatus, k.WaitingFor, k.StatusSince
		}
	}
}

// publishedStart is the start of who, or what it was published with before that could be read, or since when it cannot
// be read any more: that is no reason for a peer to become another one.
func publishedStart(who proc.Identity, ks []events.Peer) string {
	start := who.Start
	for _, k := range ks {
		switch {
		case k.PID != who.PID:
		case k.Start == who.Start:
			return k.Start
		case same(identity(k), who):
			start = k.Start
		}
	}
	return start
}

// refresh reads what is new in the thread's rollout, which it looks for if it is not known.
func (r *reading) refresh(hm *home, t *thread, who proc.Identity) {
	ro := &t.rollout
	if ro.path == "" {
		ro.path = hm.days.find(hm.path, t.id, r.at)
	}
	if ro.path == "" && r.at.Sub(ro.sought) >= soughtEvery {
		ro.sought = r.at
		if open, err := r.asked.inspect(who.PID, r.files); err == nil {
			ro.path = open.rollouts[t.id]
		}
	}
	if ro.path != "" {
		ro.refresh(t.id)
	}
}

// folders are the folders in which something may happen that is worth a notice: those of the locks, and those in which
// the threads that are held have their rollouts, or will have. On macOS a folder is watched by opening all that is in
// it; there the sweeps must do for rollouts.
func (h *Harness) folders() map[string]watched {
	out := map[string]watched{}
	for _, hm := range h.homes {
		if hm.state != there {
			continue
		}
		out[hm.folder] = watched{home: hm, id: hm.id, locks: true}
		if runtime.GOOS == "darwin" {
			continue
		}
		for _, t := range hm.threads {
			if len(t.holders) == 0 {
				continue
			}
			for _, folder := range t.rolloutFolders(hm.path) {
				if _, ok := out[folder]; ok {
					continue
				}
				if id, _, err := statFolder(folder); err == nil {
					out[folder] = watched{home: hm, id: id}
				}
			}
		}
	}
	return out
}

// rolloutFolders are the folders in which the thread's rollout is, or can be.
func (t *thread) rolloutFolders(home string) []string {
	if t.rollout.path != "" {
		return []string{filepath.Dir(t.rollout.path)}
	}
	return foldersOf(home, t.id)
}
