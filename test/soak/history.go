package main

import (
	"context"
	"fmt"
	"time"

	"peerbus/events"
)

// writeHistory fills the log of a state folder that nobody has with peers that ended long ago.
func writeHistory(ctx context.Context, stateDir, home string, ended int) error {
	b, err := startBed(ctx, stateDir)
	if err != nil {
		return err
	}
	defer b.close()
	log, err := b.log(ctx)
	if err != nil {
		return err
	}
	if _, _, err := log.Fold(ctx); err != nil {
		return err
	}
	if _, err := log.Publish(ctx, history(b.dir.Host(), home, ended, time.Now().Add(-time.Hour))); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// history is a log in which that many peers appeared, worked, and ended, many of them at a time.
func history(host, home string, ended int, begin time.Time) []events.Event {
	const together = 100
	at := func(i int) events.Meta {
		return events.Meta{Host: host, Time: events.At(begin.Add(time.Duration(i) * 100 * time.Millisecond))}
	}
	log := []events.Event{events.WatchResumed{Meta: at(0), BlindTo: at(0).Time, Why: events.Start}}
	for i := range ended + together {
		if i < ended {
			p := ghost(home, i)
			busy := p
			busy.Status, busy.VendorStatus = events.Busy, "busy"
			was := events.Was{Fields: []string{"status", "vendor_status"}, Old: events.Peer{Status: p.Status, VendorStatus: p.VendorStatus}}
			log = append(log, events.PeerAppeared{Meta: at(i), Peer: p}, events.StatusChanged{Meta: at(i), Peer: busy, Was: was})
		}
		if over := i - together; over >= 0 {
			p := ghost(home, over)
			p.Status, p.VendorStatus = events.Busy, "busy"
			log = append(log, events.PeerGone{Meta: at(i), Peer: p, Reason: events.Exited})
		}
	}
	return log
}

// ghost is the i-th peer that ended. No process has had its start.
func ghost(home string, i int) events.Peer {
	return events.Peer{
		Harness: events.Claude, Session: fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), PID: 1000 + i, Start: "1",
		Home: home, Name: fmt.Sprintf("ghost-%d", i), Status: events.Idle, VendorStatus: "idle",
	}
}
