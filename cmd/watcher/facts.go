package main

import (
	"fmt"
	"time"

	"peerbus/reconcile"
)

// late is how long ago the last sweep may be before that is a problem. One is due every second; a loaded machine is
// late by fractions of it.
const late = 10 * time.Second

// loopFacts are what a running loop says of itself.
func loopFacts(s reconcile.Stats, now time.Time) []reconcile.Fact {
	sweep := reconcile.Fact{Check: "sweep", OK: true, Fact: fmt.Sprintf("%d sweeps, the last %s ago, which took %s",
		s.Sweeps, now.Sub(s.LastSweep).Round(time.Millisecond), s.SweepTook.Round(10*time.Microsecond))}
	if s.Sweeps == 0 || now.Sub(s.LastSweep) > late {
		sweep.OK, sweep.Hint = false, "the watcher hangs or the machine is overloaded; see its log"
	}
	facts := []reconcile.Fact{sweep, {
		Check: "lag", OK: true,
		Fact: fmt.Sprintf("%s from a look to its events being stored, the last time there were any; %d events in all", s.Lag.Round(10*time.Microsecond), s.Published),
	}}
	if s.Conflicts > 0 {
		facts = append(facts, reconcile.Fact{Check: "rivals", Fact: fmt.Sprintf("%d times somebody else had written to this host's log", s.Conflicts), Hint: "find the other watcher of this host"})
	}
	if s.Refused > 0 {
		facts = append(facts, reconcile.Fact{Check: "refused", Fact: fmt.Sprintf("%d events were refused by the log for their content", s.Refused), Hint: "see the watcher's log"})
	}
	return facts
}
