package reconcile

import (
	"time"

	"peerbus/events"
)

// stall is how much later than due a sweep may come before the time between counts as blindness. A loaded machine is
// late by tens of milliseconds, a sleep of a laptop that matters to anyone takes many seconds.
const stall = 5 * time.Second

// vigil notices that nobody watched for a while: the machine slept, the process was stopped, or the clock was set
// forward, which looks the same where the monotonic clock stands still in a sleep.
type vigil struct {
	wall time.Time // by the clock that events carry
	mono time.Time // by the runtime's clock
}

// look is called at each sweep and tells the blindness since the call before.
func (v *vigil) look(wall time.Time) []Blind {
	mono := time.Now()
	was := *v
	v.wall, v.mono = wall.Round(0), mono
	if was.mono.IsZero() {
		return nil
	}
	awake := mono.Sub(was.mono)
	jump := v.wall.Sub(was.wall)
	switch {
	case jump > sweepEvery+stall:
		return []Blind{{From: was.wall, To: v.wall, Why: events.Sleep}}
	case awake > sweepEvery+stall: // and the clock was set back meanwhile
		return []Blind{{From: v.wall.Add(-awake), To: v.wall, Why: events.Sleep}}
	}
	return nil
}
