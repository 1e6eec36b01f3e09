package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// errSkip says that a scenario cannot be run here.
var errSkip = errors.New("skipped")

// options are what the program was asked for.
type options struct {
	run   []string
	seed  uint64
	scale float64
	keep  bool
}

// scaleOf reads PEERBUS_SCALE, "" is 1.
func scaleOf(s string) (float64, error) {
	if s == "" {
		return 1, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x < 0.01 || x > 100 || math.IsNaN(x) {
		return 0, fmt.Errorf("PEERBUS_SCALE is %q, not a number from 0.01 to 100", s)
	}
	return x, nil
}

// bench is what the scenarios share.
type bench struct {
	options
	dir     string
	watcher string // the built program
	exe     string // this program
}

func newBench(ctx context.Context, o options) (*bench, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "peerbus-soak-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, exe: exe, watcher: filepath.Join(dir, "watcher")}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.watcher, "peerbus/cmd/watcher")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("build the watcher: %w: %s", err, out)
	}
	return b, nil
}

func (b *bench) close(keep bool, out io.Writer) {
	if keep {
		fmt.Fprintln(out, "kept", b.dir)
		return
	}
	if err := os.RemoveAll(b.dir); err != nil {
		fmt.Fprintln(out, "not removed:", err)
	}
}

// count is n at this scale, one at the least.
func (b *bench) count(n int) int { return max(1, int(math.Round(float64(n)*b.scale))) }

// duration is d at this scale.
func (b *bench) duration(d time.Duration) time.Duration { return time.Duration(float64(d) * b.scale) }

// folder is a new folder for a scenario.
func (b *bench) folder(name string) (string, error) {
	path := filepath.Join(b.dir, name)
	return path, os.Mkdir(path, 0o700)
}

// connectAs connects to the bus of the watcher that has the state folder.
func connectAs(role, stateDir string) (*nats.Conn, error) {
	return bus.Target{State: stateDir, Role: role, Log: slog.New(slog.DiscardHandler)}.Connect()
}

// storedLog is the whole log, as the observer reads it.
func storedLog(ctx context.Context, stateDir string) ([]events.Last, error) {
	nc, err := connectAs(state.Observer, stateDir)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	var log []events.Last
	for e, err := range bus.StoredEvents(ctx, nc, bus.From{}) {
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		log = append(log, events.Last{Seq: e.Seq, Event: e.Event})
	}
	return log, nil
}
