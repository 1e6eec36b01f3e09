package claude

import (
	"os"
	"testing"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

func TestDiedLeavesItsRecord(t *testing.T) {
	w, p, other := newWorld(t), spawn(t), spawn(t)
	w.write(p.idle("s"))
	w.write(other.idle("o"))
	w.read()
	w.holds("o", "s")
	p.end()
	w.read(w.at(p.pid))
	w.went(left("s", p, events.Died))
	w.read()
	w.holds("o")
	w.says("1 left behind by dead processes")
}

func TestExitedTakesItsRecordAlong(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	w.must(os.Remove(w.file(p.pid)))
	w.read(w.at(p.pid))
	w.holds("s") // the process is still there
	if len(w.again) != 1 || w.again[0].Place != w.at(p.pid) || w.again[0].After > goneGrace {
		t.Errorf("asks for %v", w.again)
	}
	p.end()
	w.read(w.at(p.pid))
	w.went(left("s", p, events.Exited))
}

func TestUnregisteredLivesOn(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	w.must(os.Remove(w.file(p.pid)))
	w.read()
	w.skew = goneGrace / 2
	w.read()
	w.holds("s")
	w.skew = goneGrace
	w.read()
	w.went(left("s", p, events.Unregistered))

	w.write(p.idle("s"))
	w.read()
	w.holds("s")
}

func TestARecordThatComesBackEndsTheGrace(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	for range 3 {
		w.must(os.Remove(w.file(p.pid)))
		w.read()
		w.skew += goneGrace - time.Second
		w.write(p.idle("s"))
		w.read()
	}
	w.holds("s")
	w.went()
}

func TestReplacedPid(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	r.ProcStart = process{start: "1"}.procStart()
	old := r
	w.log[events.ID{Harness: "claude", Session: "s", PID: p.pid, Start: "1"}] = events.Peer{
		Harness: "claude", Session: "s", PID: p.pid, Start: "1", Home: w.dir, Status: events.Idle,
	}
	w.write(old)
	w.read()
	w.went(left("s", p, events.Replaced))
	w.says(fileName(p.pid), "belongs to another one now")

	r = p.idle("new")
	w.write(r)
	w.read()
	w.holds("new")
}

func TestATimeBeforeTheBootCountsOnlyWithoutAProvenStart(t *testing.T) {
	boot, err := proc.Boot()
	if err != nil {
		t.Fatal(err)
	}
	before := boot.Add(-time.Hour)
	p := spawn(t)
	for name, tc := range map[string]struct {
		procStart string
		want      []string
		says      string
	}{
		"proven":  {procStart: p.procStart(), want: []string{"s"}, says: "1 peers"},
		"absent":  {procStart: "", says: "1 left behind by dead processes"},
		"garbled": {procStart: "yesterday", says: "1 left behind by dead processes"},
		"another": {procStart: process{start: "1"}.procStart(), says: "1 left behind by dead processes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := p.idle("s")
			r.ProcStart = tc.procStart
			w.write(r)
			w.must(os.Chtimes(w.file(p.pid), before, before))
			w.read()
			w.holds(tc.want...)
			w.says(tc.says)
		})
	}
	t.Run("and not against a peer that is known", func(t *testing.T) {
		w := newWorld(t)
		r := p.idle("s")
		r.ProcStart = ""
		w.write(r)
		w.read()
		w.must(os.Chtimes(w.file(p.pid), before, before))
		w.read()
		w.skew = goneGrace
		w.read()
		w.holds("s")
	})
}

func TestAProcessYoungerThanAnUnprovenRecordIsUnknown(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	r.ProcStart = ""
	w.write(r)
	began := proc.Look(p.pid).Began
	w.must(os.Chtimes(w.file(p.pid), began.Add(-time.Minute), began.Add(-time.Minute)))
	w.read()
	w.holds()
	w.says(fileName(p.pid), "began after it was written")
	r.Status = "busy" // whoever writes it lives
	w.write(r)
	w.read()
	w.holds("s")
}

func TestSwitchedUnderOnePid(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s1"))
	w.read()
	w.write(p.idle("s2"))
	w.read(w.at(p.pid))
	w.holds("s2")
	w.went(left("s1", p, events.Switched))

	t.Run("in a scope that names the session", func(t *testing.T) {
		w.write(p.idle("s3"))
		place := w.at(p.pid)
		place.Session = "s2"
		w.read(place)
		w.holds("s2")
		if len(w.again) != 1 || w.again[0].Place != w.at(p.pid) {
			t.Fatalf("asks for %v", w.again)
		}
		w.read(w.again[0].Place)
		w.holds("s3")
	})
	t.Run("into a bare record", func(t *testing.T) {
		r := p.idle("s4")
		r.Status = ""
		w.write(r)
		w.skew = -time.Hour // the file's time says nothing
		w.read(w.at(p.pid))
		w.holds("s3")
		w.skew += bareGrace
		w.read(w.at(p.pid))
		w.holds("s4")
	})
}

func TestOneSessionInTwoProcesses(t *testing.T) {
	w, p1, p2 := newWorld(t), spawn(t), spawn(t)
	w.write(p1.idle("s"))
	w.write(p2.idle("s"))
	w.read()
	w.holds("s", "s")
	p1.end()
	w.read()
	w.went(left("s", p1, events.Died))
	if got := w.only(); got.PID != p2.pid {
		t.Errorf("%d is left, want %d", got.PID, p2.pid)
	}
}

func TestARecordThatWasTakenAwayBeforeTheEndWasNotLeftBehind(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	known := w.read().Peers
	p.end()
	r := w.h.newReading([]reconcile.Place{w.at(p.pid)}, known)
	w.must(os.Remove(w.file(p.pid))) // after it was read, and before the process is looked at
	r.judge(w.h.homes[0], p.pid)
	if got := r.snap.Gone[known[0].ID("")]; got.Reason != events.Exited {
		t.Errorf("gone: %+v", got)
	}
}
