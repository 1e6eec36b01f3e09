package main

import (
	"context"
	"log/slog"

	"peerbus/events"
	"peerbus/internal/claude"
	"peerbus/internal/codex"
	"peerbus/internal/proc"
	"peerbus/internal/state"
	"peerbus/reconcile"
)

// homes are the folders that are watched, by harness.
type homes struct{ claude, codex []string }

// findHomes are those asked for, or the usual ones.
func findHomes(claudeAsked, codexAsked []string) (h homes, err error) {
	if h.claude, err = claudeHomes(claudeAsked); err != nil {
		return homes{}, err
	}
	h.codex, err = codexHomes(codexAsked)
	return h, err
}

// kept is h as the state folder keeps it.
func (h homes) kept() []state.Home {
	var out []state.Home
	for _, path := range h.claude {
		out = append(out, state.Home{Harness: events.Claude, Path: path})
	}
	for _, path := range h.codex {
		out = append(out, state.Home{Harness: events.Codex, Path: path})
	}
	return out
}

// homesKept are the homes that the state folder has kept.
func homesKept(kept []state.Home) (h homes) {
	for _, k := range kept {
		switch k.Harness {
		case events.Claude:
			h.claude = append(h.claude, k.Path)
		case events.Codex:
			h.codex = append(h.codex, k.Path)
		}
	}
	return h
}

// harnesses are who reads the homes.
type harnesses []reconcile.Harness

// harnesses read the homes; ours tells which processes are couriers of ours.
func (h homes) harnesses(log *slog.Logger, ours func(proc.Identity) bool) harnesses {
	return harnesses{claude.New(h.claude, claude.Options{Log: log, Ours: ours}), codex.New(h.codex, codex.Options{Log: log})}
}

// explain has the peer's own harness say what speaks for it.
func (hs harnesses) explain(ctx context.Context, p events.Peer) reconcile.Explanation {
	for _, h := range hs {
		if h.Name() == p.Harness {
			return h.Explain(ctx, p)
		}
	}
	return reconcile.Explanation{Verdict: "unknown"}
}

func (hs harnesses) facts() []reconcile.Fact {
	var all []reconcile.Fact
	for _, h := range hs {
		all = append(all, h.Facts()...)
	}
	return all
}
