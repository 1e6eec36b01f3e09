package world

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/proc"
)

func TestMain(m *testing.M) {
	StandIn()
	os.Exit(m.Run())
}

// running is a world that acts until the test ends.
func running(t *testing.T, size int) *World {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Options{Home: t.TempDir(), Exe: exe, Size: size, Pace: 5 * time.Millisecond, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		for id := range w.Lives() {
			if v := proc.Check(proc.Identity{PID: id.PID, Start: id.Start}).Verdict; v == proc.Alive {
				t.Errorf("process %d is left", id.PID)
			}
		}
	})
	w.Filled()
	return w
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestAQuietWorldIsAsTheTruthSays(t *testing.T) {
	w := running(t, 10)
	for range 5 {
		actions := w.Counts().Actions
		until(t, "100 actions", func() bool { return w.Counts().Actions >= actions+100 })
		resume := w.Quiet()
		held := w.Counts().Actions
		here := w.Here()
		for id, p := range here {
			data, err := os.ReadFile(record{PID: id.PID}.path(w.Home()))
			if err != nil {
				t.Fatal(err)
			}
			var r record
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p, r.peer(w.Home(), id.Start)); d != "" {
				t.Errorf("record (-truth +file):\n%s", d)
			}
			if v := proc.Check(proc.Identity{PID: id.PID, Start: id.Start}).Verdict; v != proc.Alive {
				t.Errorf("%d is %v", id.PID, v)
			}
		}
		for id, l := range w.Lives() {
			if _, is := here[id]; is != l.Here() {
				t.Errorf("%v is here: %t; its life says %t", id, is, l.Here())
			}
			if l.End != nil && proc.Check(proc.Identity{PID: id.PID, Start: id.Start}).Verdict == proc.Alive {
				t.Errorf("%d is alive, and should have %s", id.PID, l.Reason)
			}
		}
		if now := w.Counts().Actions; now != held {
			t.Errorf("%d actions in a quiet world", now-held)
		}
		resume()
	}
}

func TestStandInsDoEverythingThatSessionsDo(t *testing.T) {
	w := running(t, 10)
	until(t, "every kind of action", func() bool {
		c := w.Counts()
		return min(c.Statuses, c.Renames, c.Boths, c.Clears, c.Quits, c.Kills) > 0
	})
	if c := w.Counts(); c.Starts+c.Statuses+c.Renames+c.Boths+c.Clears+c.Quits+c.Kills != c.Actions {
		t.Errorf("counts do not add up: %+v", c)
	}
}

func TestTheDoomedDoNothingButEnd(t *testing.T) {
	w := running(t, 3)
	resume := w.Quiet()
	others := func(c Counts) int { return c.Actions - c.Starts - c.Quits - c.Kills }
	before := w.Counts()
	w.Doom(1_000_000)
	resume()
	until(t, "ten ends", func() bool {
		now := w.Counts()
		return now.Quits+now.Kills >= before.Quits+before.Kills+10
	})
	if now := w.Counts(); others(now) != others(before) {
		t.Errorf("%d other actions", others(now)-others(before))
	}
}

func TestMayBeGone(t *testing.T) {
	at := func(ms int64) *Span { return &Span{From: time.UnixMilli(ms), To: time.UnixMilli(ms + 5)} }
	left, died := Life{Left: at(100)}, Life{End: at(200), Reason: events.Died}
	both := Life{Left: at(100), End: at(200), Reason: events.Died}
	for name, tc := range map[string]struct {
		life   Life
		reason events.Reason
		at     events.Time
		want   bool
	}{
		"lives":                           {Life{}, events.Died, 500, false},
		"lives, and no reason":            {Life{}, "", 500, false},
		"left":                            {left, events.Switched, 100, true},
		"left, too early":                 {left, events.Switched, 99, false},
		"left, and lives":                 {left, events.Died, 500, false},
		"died":                            {died, events.Died, 200, true},
		"died, too early":                 {died, events.Died, 199, false},
		"died, another reason":            {died, events.Exited, 500, false},
		"died, and never left":            {died, events.Switched, 500, false},
		"left and died":                   {both, events.Switched, 150, true},
		"left and died, both unseen":      {both, events.Died, 200, true},
		"left and died, not dead by then": {both, events.Died, 150, false},
	} {
		if got := tc.life.MayBeGone(tc.reason, tc.at); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
