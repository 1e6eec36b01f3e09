package proc

import (
	"errors"
	"math"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestValidPID(t *testing.T) {
	for pid, want := range map[int64]bool{
		math.MinInt64: false, -1: false, 0: false, 1: false, 2: true, MaxPID: true, MaxPID + 1: false,
		math.MaxUint32: false, 1<<32 + int64(os.Getpid()): false, math.MaxInt64: false,
	} {
		if got := ValidPID(pid); got != want {
			t.Errorf("ValidPID(%d) = %v, want %v", pid, got, want)
		}
	}
}

func TestLookAtOneself(t *testing.T) {
	before := time.Now()
	s := Look(os.Getpid())
	if s.Verdict != Alive || s.Err != nil || s.OtherClock {
		t.Fatalf("saw %+v of oneself", s)
	}
	if start, ok := parseStart(s.Start); !ok {
		t.Errorf("start %q is no number, or 0 (%d)", s.Start, start)
	}
	boot, err := Boot()
	if err != nil {
		t.Fatal(err)
	}
	if s.Began.Before(boot) || s.Began.After(before) {
		t.Errorf("began at %v, want between boot at %v and the test at %v", s.Began, boot, before)
	}
	if want := (Identity{PID: os.Getpid(), Start: s.Start}); SelfID() != want {
		t.Errorf("SelfID() = %v, want %v", SelfID(), want)
	}
}

func TestBeganIsWhenAChildWasStarted(t *testing.T) {
	// A start is cut to the unit in which it is counted, a second on macOS.
	before := time.Now().Add(-time.Second)
	c := waiter(t)
	if s := Look(c.id.PID); s.Began.Before(before) || s.Began.After(time.Now()) {
		t.Errorf("began at %v, want between %v and now", s.Began, before)
	}
}

func TestCheck(t *testing.T) {
	c := waiter(t)
	other := Identity{PID: c.id.PID, Start: c.id.Start + "1"}
	unread := Identity{PID: c.id.PID, Start: Unread}
	for id, want := range map[Identity]Verdict{c.id: Alive, other: Replaced, unread: Alive} {
		if s := Check(id); s.Verdict != want || s.Start != c.id.Start {
			t.Errorf("Check(%v) = %+v, want %v", id, s, want)
		}
	}
	c.kill(t)
	for _, id := range []Identity{c.id, other, unread} {
		if s := Check(id); s.Verdict != Dead || s.Start != Unread {
			t.Errorf("after its end Check(%v) = %+v, want dead", id, s)
		}
	}
}

func TestBadPIDsAreUnknown(t *testing.T) {
	for _, pid := range badPIDs(t) {
		if s := Look(pid); s.Verdict != Unknown || !errors.Is(s.Err, ErrPID) {
			t.Errorf("Look(%d) = %+v, want unknown for its pid", pid, s)
		}
	}
}

// badPIDs are the pids that are dangerous: everybody, one's own group, init, and what becomes one of them, or
// oneself, when it is cut to 32 bits.
func badPIDs(t testing.TB) []int {
	pids := []int{0, 1, -1, -os.Getpid(), math.MinInt32, math.MaxInt32, MaxPID + 1}
	if strconv.IntSize < 64 {
		return pids
	}
	for _, wide := range []int64{math.MaxUint32, 1<<32 + int64(os.Getpid()), 1 << 32, math.MinInt64, math.MaxInt64} {
		pids = append(pids, int(wide))
	}
	return pids
}

func TestWordsForPeople(t *testing.T) {
	for v, want := range map[Verdict]string{Unknown: "unknown", Alive: "alive", Dead: "dead", Replaced: "replaced", 9: "unknown"} {
		if v.String() != want {
			t.Errorf("verdict %d is %q, want %q", v, v, want)
		}
	}
	for m, want := range map[Match]string{Unproven: "unproven", Same: "same", Different: "different", 9: "unproven"} {
		if m.String() != want {
			t.Errorf("match %d is %q, want %q", m, m, want)
		}
	}
}
