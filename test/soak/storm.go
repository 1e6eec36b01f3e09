package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"peerbus/events"
	"peerbus/reconcile"
)

// storm has many sessions act for a while, and compares at quiet points.
func storm(ctx context.Context, b *bench, r *report) error {
	const quietPoints = 12
	dir, err := b.folder("storm")
	if err != nil {
		return err
	}
	sessions, lasts := b.count(300), b.duration(time.Minute)
	r.factf("%d sessions for %v", sessions, lasts)
	s, err := b.newStage(ctx, r, dir, sessions)
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		s.close(false)
		return err
	}
	defer s.close(true)
	for i := range quietPoints {
		sleep(ctx, lasts/quietPoints)
		s.quiet(ctx, fmt.Sprintf("quiet point %d", i+1), quietIn)
	}
	if _, err := s.audited(ctx); err != nil {
		return err
	}
	if err := s.listed(ctx); err != nil {
		return err
	}
	torn, err := s.tornReads(ctx)
	if err != nil {
		return err
	}
	if torn == 0 {
		r.failf("no torn read was met, so that none was survived")
	}
	s.tally()
	r.factf("%s torn reads survived", thousands(torn))
	r.factf("from a write to its line %s", &s.check.latency)
	return nil
}

// listed compares what `watcher ls` prints with the truth.
func (s *stage) listed(ctx context.Context) error {
	defer s.still(ctx, "before ls", quietIn)()
	said := make(map[events.ID]events.Peer)
	err := s.ask(ctx, func(line []byte) error {
		var l struct{ Peer events.Peer }
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		said[l.Peer.ID("")] = l.Peer
		return nil
	}, "ls")
	if err != nil {
		return err
	}
	for _, w := range unlike(said, s.world.Here()) {
		s.failf("ls: %s", w)
	}
	return nil
}

var tornWords = regexp.MustCompile(`(\d+) of them torn`)

// tornReads is how many records were met half-written, as `watcher doctor` counts them.
func (s *stage) tornReads(ctx context.Context) (torn uint64, err error) {
	found := false
	err = s.ask(ctx, func(line []byte) error {
		var f reconcile.Fact
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		if m := tornWords.FindStringSubmatch(f.Fact); m != nil {
			found = true
			torn, err = strconv.ParseUint(m[1], 10, 64)
		}
		if !f.OK {
			s.failf("doctor: %s: %s", f.Check, f.Fact)
		}
		return err
	}, "doctor")
	if err == nil && !found {
		s.failf("doctor does not count torn reads")
	}
	return torn, err
}

// ask runs another command of the watcher, and calls each with every line that it prints.
func (s *stage) ask(ctx context.Context, each func([]byte) error, command string) error {
	cmd := exec.CommandContext(ctx, s.daemon.watcher, command, "--json", "--state", s.daemon.state)
	out, err := cmd.Output()
	if err != nil {
		s.failf("watcher %s: %v", command, err)
	}
	for line := range bytes.Lines(out) {
		if err := each(line); err != nil {
			return fmt.Errorf("watcher %s prints %q: %w", command, line, err)
		}
	}
	return nil
}
