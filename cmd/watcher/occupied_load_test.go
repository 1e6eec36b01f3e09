package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/proc"
	"peerbus/internal/state"
	"peerbus/occupancy"
)

// The load: a rate and a time of questions, on so many records, and what an event may take meanwhile from the writing
// of a record to a subscriber.
const (
	askRate     = 1000 // a second
	askSeconds  = 10
	askRecords  = 100
	askLive     = 5 // of the records; the others' processes have ended
	askers      = 16
	eventWithin = 50 * time.Millisecond
)

// TestOccupiedUnderLoad asks 1,000 questions a second for 10 s, times PEERBUS_SCALE, on 100 records. All are answered
// right, each from a look that began after it was asked: one asker moves a session from thread to thread and asks for
// both. Events are not delayed by it; that cannot be seen on a machine that delays them as long without any question.
func TestOccupiedUnderLoad(t *testing.T) {
	l := startLoad(t)
	late := 0
	for range 3 {
		asking := l.run(t, true)
		if t.Failed() || asking <= eventWithin {
			return
		}
		switch alone := l.run(t, false); {
		case asking <= eventWithin+alone:
			return
		case alone <= eventWithin:
			late++
		}
	}
	if late > 0 {
		t.Errorf("events were delayed by more than %s, whenever that could be seen", eventWithin)
		return
	}
	t.Logf("not shown: that events come within %s, which they do not do here without questions either", eventWithin)
}

// load is a watcher on a home full of records.
type load struct {
	home  string
	nc    *nats.Conn
	token string
	pids  []int // of the live sessions
	// thread is the one that the second session is in, which the first asker moves.
	thread string

	mu      sync.Mutex
	written map[events.Time]time.Time // when the record was written whose status is since then
	delays  []time.Duration
	stamp   atomic.Int64
}

func startLoad(t *testing.T) *load {
	t.Helper()
	l := &load{home: t.TempDir(), thread: threadOf(1), written: map[events.Time]time.Time{}}
	if err := os.Mkdir(filepath.Join(l.home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range askLive {
		l.pids = append(l.pids, spawnSession(t))
	}
	for i := range askRecords {
		l.write(t, l.pid(i), threadOf(i))
	}
	path := filepath.Join(t.TempDir(), "state")
	startWatcher(t, "run", "--state", path, "--claude-home", l.home)
	target := bus.Target{State: path, Role: state.Observer, Log: slog.New(slog.DiscardHandler)}
	for deadline := time.Now().Add(10 * time.Second); ; {
		var err error
		if l.nc, err = target.Connect(); err == nil {
			l.token = l.nc.ConnectedServerName()
			t.Cleanup(l.nc.Close)
			if _, err = bus.AskStatus(t.Context(), l.nc, l.token); err == nil {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // between two tries
	}
	sub, err := l.nc.Subscribe("peers.v1.>", l.hear)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() }) // the connection closes anyway
	return l
}

// spawnSession starts a process that stands in for a session until the test ends.
func spawnSession(t *testing.T) int {
	t.Helper()
	path, err := exec.LookPath("session-process")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// startWatcher runs the program until the test ends.
func startWatcher(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("watcher")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "GORACE="+noRaceSleep)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the watcher ended with %v", err)
		}
	})
}

// pid is that of the record i: of a live session, or one that nobody can have by now.
func (l *load) pid(i int) int {
	if i < askLive {
		return l.pids[i]
	}
	return proc.MaxPID - i
}

func threadOf(i int) string { return fmt.Sprintf("25c49259-5cd0-4744-a158-%012x", i) }

// write writes the record of pid, with a status that is new.
func (l *load) write(t *testing.T, pid int, thread string) {
	since := events.Time(1_796_065_217_544 + l.stamp.Add(1))
	status := []string{"busy", "idle"}[since%2]
	start := proc.Look(pid).Start
	data := fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"procStart":%q,"messagingSocketPath":%q,"name":"s","status":%q,"statusUpdatedAt":%d}`,
		pid, thread, start, l.home, status, since)
	l.mu.Lock()
	l.written[since] = time.Now()
	l.mu.Unlock()
	// By renaming: on a machine that stops this program in the middle of a write the record would be torn, which is a
	// right answer, too, and not the one that is wanted here.
	path := filepath.Join(l.home, "sessions", strconv.Itoa(pid)+".json")
	err := os.WriteFile(path+".new", data, 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Error(err)
	}
}

// hear notes how long ago the record was written of which an event tells.
func (l *load) hear(m *nats.Msg) {
	now := time.Now()
	ev, err := events.Decode(m.Data)
	if err != nil {
		return
	}
	p, _ := events.PeerOf(ev)
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.written[p.StatusSince]; ok {
		l.delays = append(l.delays, now.Sub(at))
		delete(l.written, p.StatusSince)
	}
}

// run asks at the rate for the time, or only moves sessions as if it did, and returns the longest delay of an event.
func (l *load) run(t *testing.T, ask bool) time.Duration {
	t.Helper()
	n := max(int(askRate*askSeconds*scale(t)), askers)
	l.mu.Lock()
	clear(l.written)
	l.delays = nil
	l.mu.Unlock()

	ctx, stop := context.WithCancel(t.Context())
	var writer, wg sync.WaitGroup
	writer.Go(func() { l.work(ctx, t) })
	began := time.Now()
	var asked atomic.Int64
	took := make([][]time.Duration, askers)
	for a := range askers {
		wg.Go(func() {
			for i := int(asked.Add(1)); i <= n; i = int(asked.Add(1)) {
				time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / askRate))) // the rate
				took[a] = append(took[a], l.turn(t, a, i, ask))
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	stop()
	writer.Wait()

	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.delays)
	if len(l.delays) == 0 {
		t.Fatal("no events")
	}
	longest := l.delays[len(l.delays)-1]
	t.Logf("asked %t: %d questions in %s, answered in p50 %s, p99 %s, at most %s; %d events, delayed by p50 %s, at most %s",
		ask, len(all), elapsed.Round(time.Millisecond), all[len(all)/2], all[len(all)*99/100], all[len(all)-1],
		len(l.delays), l.delays[len(l.delays)/2], longest)
	return longest
}

// work has the first session change its status 20 times a second.
func (l *load) work(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.write(t, l.pids[0], threadOf(0))
		}
	}
}

// turn asks one question and fails the test unless the answer is right. The first asker has another session go from one
// thread to another and asks for both; the others ask for threads that keep their owners or their want of one.
func (l *load) turn(t *testing.T, asker, i int, ask bool) time.Duration {
	thread, want := threadOf(0), occupancy.LiveProcess
	switch {
	case asker == 0:
		left := l.thread
		l.thread = threadOf(1000 + i)
		l.write(t, l.pids[1], l.thread)
		thread = l.thread
		if i%2 == 0 {
			thread, want = left, ""
		}
	case i%2 == 0:
		thread, want = threadOf(askLive+rand.IntN(askRecords-askLive)), ""
	case i%3 == 0:
		thread = threadOf(2 + rand.IntN(askLive-2))
	}
	at := time.Now()
	if !ask {
		return 0
	}
	v, err := bus.AskOccupied(t.Context(), l.nc, l.token, occupancy.Question{Harness: events.Claude, Thread: thread})
	took := time.Since(at)
	if err != nil || v.Reason != want || v.Attachable != (want == "") || v.Time < events.At(at) {
		t.Errorf("asked for %s at %v, want %q: %+v, %v", thread, at, want, v, err)
	}
	return took
}

// scale is PEERBUS_SCALE, a fifth where it is not set.
func scale(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("PEERBUS_SCALE")
	if text == "" {
		return 0.2
	}
	s, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("PEERBUS_SCALE: %v", err)
	}
	return s
}
