package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"peerbus/events"
)

const (
	// diskSize has room for what a run writes, several times.
	diskSize = 64 << 20

	// recoverIn is how long the watcher may take to go on after there is space again: it tries each second.
	recoverIn = 15 * time.Second
)

// disk has the state folder's disk be full for a while.
func disk(ctx context.Context, b *bench, r *report) error {
	dir, err := b.folder("disk")
	if err != nil {
		return err
	}
	small := filepath.Join(dir, "state") // the sessions' home is on another disk
	if err := os.Mkdir(small, 0o700); err != nil {
		return err
	}
	unmount, err := mountSmall(small, diskSize)
	if err != nil {
		return err
	}
	sessions, full := b.count(100), max(b.duration(5*time.Second), 2*time.Second)
	r.factf("%d sessions, full for %v", sessions, full)
	err = fillUp(ctx, b, r, dir, sessions, full)
	if err := unmount(); err != nil {
		r.failf("%v", err)
	}
	return err
}

func fillUp(ctx context.Context, b *bench, r *report, dir string, sessions int, full time.Duration) error {
	s, err := b.newStage(ctx, r, dir, sessions)
	if err != nil {
		return err
	}
	run := newHeard(s.daemon.event)
	s.daemon.event = run.event
	if err := s.open(); err != nil {
		s.close(false)
		return err
	}
	defer s.close(true)
	tail, err := s.startTail()
	if err != nil {
		return err
	}
	defer tail.end()
	sleep(ctx, full/2)
	s.quiet(ctx, "before the disk was full", quietIn)

	before := len(s.daemon.stderr.all())
	if err := hog(ctx, filepath.Join(dir, "state", "hog"), full/2, func() { s.doctorSaysFull(ctx) }); err != nil {
		return err
	}
	sleep(ctx, time.Second) // the sessions act while the watcher comes back
	s.quiet(ctx, "after the disk was full", recoverIn)
	s.complaints(s.daemon.stderr.all()[before:])

	log, err := s.audited(ctx)
	if err != nil {
		return err
	}
	run.kept(r, "run", log)
	tail.kept(r, "tail", log)
	s.tally()
	r.factf("%s heard by run and %s by tail are all in the log", thousands(run.count()), thousands(tail.count()))
	return nil
}

// complaints checks that the watcher has told in one line that the disk is full.
func (s *stage) complaints(said []string) {
	clear := 0
	for _, line := range said {
		if strings.Contains(line, "level=ERROR") && strings.Contains(line, "disk is full") {
			clear++
		}
	}
	if clear != 1 || len(said) != 1 {
		s.failf("of %d lines in the watcher's log %d are a clear word about the disk, not one of one; they begin with %s",
			len(said), clear, said[:min(len(said), 3)])
	}
}

// doctorSaysFull checks that somebody who wonders what is wrong is told.
func (s *stage) doctorSaysFull(ctx context.Context) {
	cmd := exec.CommandContext(ctx, s.daemon.watcher, "doctor", "--json", "--state", s.daemon.state, "--claude-home", s.daemon.home)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !bytes.Contains(out, []byte("disk is full")) {
		s.failf("doctor on a full disk: %v: %s", err, out)
	}
}

// hog takes all space that there is for some time, and for as much time again after half was called.
func hog(ctx context.Context, path string, lasts time.Duration, half func()) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	hold := func() {
		for end := time.Now().Add(lasts); time.Now().Before(end) && ctx.Err() == nil; sleep(ctx, time.Millisecond) {
			for chunk := make([]byte, 1<<20); len(chunk) > 0; {
				if _, err := f.Write(chunk); err != nil {
					chunk = chunk[:len(chunk)/2]
				}
			}
		}
	}
	hold()
	half()
	hold()
	return nil
}

// heard collects events that somebody was told. It may be told from another goroutine than asked.
type heard struct {
	next func(events.Last, time.Time)

	mu  sync.Mutex
	all []events.Last
}

func newHeard(next func(events.Last, time.Time)) *heard { return &heard{next: next} }

func (h *heard) event(l events.Last, at time.Time) {
	h.mu.Lock()
	h.all = append(h.all, l)
	h.mu.Unlock()
	h.next(l, at)
}

func (h *heard) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// kept checks that all that was told is in the log.
func (h *heard) kept(r *report, by string, log []events.Last) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make(map[uint64]string, len(log))
	for _, l := range log {
		ids[l.Seq] = l.Event.Head().ID
	}
	for _, l := range h.all {
		if id := l.Event.Head().ID; ids[l.Seq] != id {
			r.failf("%s told %s as seq %d, where the log has %q", by, id, l.Seq, ids[l.Seq])
		}
	}
}
