package main

import (
	"log/slog"
	"sync"
	"time"

	"peerbus/internal/proc"
	"peerbus/internal/state"
)

// couriersAge is how old what is known of the spawn ledger may be. A courier is in the ledger before it is started, and
// has its record some 350 ms after that, so that it is known by then.
const couriersAge = 100 * time.Millisecond

// couriers tells which processes are couriers of ours, as the spawn ledger has it.
type couriers struct {
	dir *state.Dir
	log *slog.Logger

	mu    sync.Mutex
	read  time.Time
	known map[proc.Identity]bool
}

// ours tells whether id is a courier of ours. It may be called from any goroutine.
func (c *couriers) ours(id proc.Identity) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.read) >= couriersAge {
		c.read, c.known = now, map[proc.Identity]bool{}
		all, err := c.dir.Couriers(proc.BootID())
		if err != nil {
			c.log.Info("not all of the couriers are known", "err", err)
		}
		for _, k := range all {
			c.known[proc.Identity{PID: k.PID, Start: k.Start}] = true
		}
	}
	return c.known[id]
}
