package world

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
)

// actor is one stand-in session with its process.
type actor struct {
	w    *World
	rng  *rand.Rand
	proc *process
	rec  record
}

// born returns a session that is there and has a status.
func (w *World) born(rng *rand.Rand) (*actor, error) {
	p, err := spawn(w.exe)
	if err != nil {
		return nil, err
	}
	a := &actor{w: w, rng: rng, proc: p, rec: newRecord(rng, p)}
	w.count(func(c *Counts) *int { return &c.Starts })
	status := a.nextStatus()
	if rng.IntN(2) == 0 {
		status(&a.rec)
		return a, a.write()
	}
	if err := a.write(); err != nil {
		return nil, err
	}
	time.Sleep(20*time.Millisecond + time.Duration(rng.Int64N(int64(130*time.Millisecond))))
	status(&a.rec)
	return a, a.write()
}

func newRecord(rng *rand.Rand, p *process) record {
	pid := p.pid()
	now := time.Now().UnixMilli()
	r := record{
		PID: pid, SessionID: sessionID(rng), Cwd: fmt.Sprintf("/home/u/proj %d", rng.IntN(20)), StartedAt: now,
		ProcStart: procStart(p), Version: "2.1.332", PeerProtocol: 1, PeerFeatures: []string{"notify_idle"},
		Kind: "interactive", Entrypoint: "cli", UpdatedAt: now,
	}
	if rng.IntN(3) > 0 {
		r.PidDomain = proc.Domain()
	}
	if rng.IntN(4) > 0 {
		r.Socket = fmt.Sprintf("/tmp/cc-socks/%d.sock", pid)
	}
	if rng.IntN(3) == 0 {
		r.Tmux = fmt.Sprintf("main:@%d.%%%d", rng.IntN(9), rng.IntN(99))
	}
	if rng.IntN(8) == 0 {
		r.Kind, r.JobID = "bg", hex.EncodeToString(binary.BigEndian.AppendUint32(nil, rng.Uint32()))
	}
	rename(&r, rng)
	return r
}

func sessionID(rng *rand.Rand) string {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rng.Uint64()), rng.Uint64())
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// procStart is the start as Claude Code writes it on this system.
func procStart(p *process) string {
	switch runtime.GOOS {
	case "linux":
		return p.start
	case "darwin":
		return p.began.UTC().Format("Mon Jan _2 15:04:05 2006")
	}
	return ""
}

// names are free text; what is in them must come out as it went in.
var names = []string{"proj", "weird:`name` %x", "a.b.*.>", "line\nbreak", "\x1b[31mred", "größer 漢字", " ", "=2E"}

func rename(r *record, rng *rand.Rand) {
	r.Name = fmt.Sprintf("%s-%x", names[rng.IntN(len(names))], rng.Uint32())
	r.NameSource, r.NameSince = "user", time.Now().UnixMilli()
}

// nextStatus draws a status that is not the present one.
func (a *actor) nextStatus() func(*record) {
	status, waiting := a.rec.Status, a.rec.WaitingFor
	for status == a.rec.Status && waiting == a.rec.WaitingFor {
		waiting = ""
		switch status = []string{"busy", "idle", "waiting", "shell"}[a.rng.IntN(4)]; status {
		case "waiting":
			waiting = []string{"permission prompt", "input needed", "dialog open"}[a.rng.IntN(3)]
		}
	}
	return func(r *record) {
		// A time of its own for every status, so that each can be told by it.
		r.StatusUpdatedAt = max(time.Now().UnixMilli(), r.StatusUpdatedAt+1)
		r.Status, r.WaitingFor, r.UpdatedAt = status, waiting, r.StatusUpdatedAt
	}
}

func (a *actor) peer() events.Peer { return a.rec.peer(a.w.home, a.proc.start) }

// write tells the truth first, so that nobody sees what is not yet known to be so.
func (a *actor) write() error {
	a.w.is(a.peer())
	return a.rec.write(a.w.home, a.rng)
}

// act does one thing at random, and reports whether the session is over.
func (a *actor) act() (over bool, err error) {
	switch n := a.rng.IntN(1000); {
	case n < 880:
		a.w.count(func(c *Counts) *int { return &c.Statuses })
		a.nextStatus()(&a.rec)
	case n < 930:
		a.w.count(func(c *Counts) *int { return &c.Renames })
		rename(&a.rec, a.rng)
		a.rec.UpdatedAt = time.Now().UnixMilli()
	case n < 970:
		a.w.count(func(c *Counts) *int { return &c.Boths })
		rename(&a.rec, a.rng)
		a.nextStatus()(&a.rec)
	case n < 985:
		return false, a.clear()
	case n < 993:
		return true, a.quit()
	default:
		return true, a.die()
	}
	return false, a.write()
}

// clear goes over to another session.
func (a *actor) clear() error {
	a.w.count(func(c *Counts) *int { return &c.Clears })
	left := a.w.leaving(a.peer())
	defer left()
	a.rec.SessionID = sessionID(a.rng)
	a.nextStatus()(&a.rec)
	return a.write()
}

// end quits or dies.
func (a *actor) end() error {
	if a.rng.IntN(2) == 0 {
		return a.quit()
	}
	return a.die()
}

// quit takes the record away and ends 17 to 45 ms later.
func (a *actor) quit() error {
	a.w.count(func(c *Counts) *int { return &c.Quits })
	ended := a.w.ending(a.peer(), events.Exited)
	if err := os.Remove(a.rec.path(a.w.home)); err != nil {
		return err
	}
	time.Sleep(17*time.Millisecond + time.Duration(a.rng.Int64N(int64(28*time.Millisecond))))
	a.proc.quit()
	a.proc.ended()
	ended()
	return nil
}

// die is killed and leaves its record behind.
func (a *actor) die() error {
	a.w.count(func(c *Counts) *int { return &c.Kills })
	ended := a.w.ending(a.peer(), events.Died)
	if err := a.proc.kill(); err != nil {
		return fmt.Errorf("kill stand-in: %w", err)
	}
	a.proc.ended()
	ended()
	return nil
}

// zombie is how long at most an ended process waits to be reaped, as one does under tmux.
const zombie = 1500 * time.Millisecond

// buried returns when the process is reaped: at once, or late.
func (a *actor) buried(ctx context.Context) {
	if a.rng.IntN(4) == 0 {
		pause(ctx, time.Duration(a.rng.Int64N(int64(zombie))))
	}
	a.proc.reap()
}
