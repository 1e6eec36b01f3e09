package claude

import (
	"os"
	"sync"
	"testing"
	"time"

	"peerbus/events"
	"peerbus/reconcile"
)

func TestTornRecordsAreReadAgainAndKeptMeanwhile(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	w.write(r)
	w.read()
	for _, broken := range []string{"", `{"pid":`, "garbage"} {
		w.must(os.WriteFile(w.file(p.pid), []byte(broken), 0o644))
		// Behind the event that is sure to come only: 2, 10, 50 ms, and then the sweeps.
		for _, want := range []time.Duration{2 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
			w.read(w.at(p.pid))
			w.holds("s")
			if len(w.again) != 1 || w.again[0] != (reconcile.Again{Place: w.at(p.pid), After: want}) {
				t.Errorf("after %q: asks for %v, want it after %v", broken, w.again, want)
			}
		}
		w.read(w.at(p.pid))
		if len(w.again) > 0 {
			t.Errorf("after %q: asks for %v a fourth time", broken, w.again)
		}
	}
	w.says("claude sweep", "12 of them torn")
	w.says("ok claude record", fileName(p.pid), "not one whole JSON object")
	w.skew = 2 * young
	w.read()
	w.says("bad claude record", fileName(p.pid), "not one whole JSON object")
	r.Status = "busy"
	w.write(r)
	w.read()
	if got := w.only(); got.Status != events.Busy {
		t.Errorf("status %s after it healed", got.Status)
	}

	t.Run("and is dead when its process is", func(t *testing.T) {
		w.must(os.WriteFile(w.file(p.pid), nil, 0o644))
		p.end()
		w.read(w.at(p.pid))
		w.went(left("s", p, events.Died))
	})
}

func TestAWriterThatTruncatesAllTheTimeLosesNobody(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	w.write(r)
	w.read()
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				writeRecord(w.folder(), r) // a failure shows as no torn reads
			}
		}
	})
	defer writer.Wait()
	defer close(done)
	eventually(t, "a hundred torn reads", func() bool {
		w.read(w.at(p.pid))
		w.holds("s")
		return w.h.homes[0].torn >= 100
	})
	w.went()
}

func TestANewTornRecordIsUnreadAndNobody(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.must(os.WriteFile(w.file(p.pid), nil, 0o644))
	w.read()
	w.holds()
	if len(w.unread) != 1 || w.unread[0] != w.at(p.pid) {
		t.Errorf("unread %v", w.unread)
	}
}

// Two writes of one size within one tick of a coarse file system clock leave the file's times as they are; Chtimes
// stands in for such a clock.
func TestASweepReadsYoungFilesAgain(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	now := time.Now()
	w.write(r)
	w.must(os.Chtimes(w.file(p.pid), now, now))
	w.read()
	r.Status = "busy"
	w.write(r)
	w.must(os.Chtimes(w.file(p.pid), now, now))
	key := w.h.homes[0].slots[p.pid].key
	d, err := openFolder(w.folder())
	w.must(err)
	defer d.close()
	w.h.homes[0].slots[p.pid].key, err = d.stat(fileName(p.pid)) // as if ctime, too, had not moved
	w.must(err)
	if moved := w.h.homes[0].slots[p.pid].key; moved.mtime != key.mtime || moved.size != key.size {
		t.Fatalf("the file shows it: %v, %v", key, moved)
	}
	w.read()
	if got := w.only(); got.Status != events.Busy {
		t.Errorf("status %s", got.Status)
	}
}

func TestASweepReadsNothingThatDidNotChange(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	old := time.Now().Add(-time.Minute)
	w.must(os.Chtimes(w.file(p.pid), old, old))
	w.skew = 2 * young // ctime cannot be set
	w.read()
	reads := w.h.homes[0].reads
	w.read()
	w.read()
	if got := w.h.homes[0].reads; got != reads {
		t.Errorf("%d reads of a file that did not change", got-reads)
	}
	w.write(p.idle("t"))
	w.read()
	w.holds("t")
}

func TestAScopedReadReadsOneFile(t *testing.T) {
	w := newWorld(t)
	var ps []process
	for range 5 {
		p := spawn(t)
		w.write(p.idle("s"))
		ps = append(ps, p)
	}
	w.read()
	reads, sweeps := w.h.homes[0].reads, w.h.homes[0].sweeps
	r := ps[2].idle("s")
	r.Status = "busy"
	w.write(r)
	s := w.read(w.at(ps[2].pid))
	if len(s.Peers) != 1 || s.Peers[0].Status != events.Busy {
		t.Errorf("peers %v", s.Peers)
	}
	if got := w.h.homes[0]; got.reads != reads+1 || got.sweeps != sweeps {
		t.Errorf("%d reads and %d sweeps for one record", got.reads-reads, got.sweeps-sweeps)
	}
}

func TestPlacesOfOthersAreNotRead(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	s := w.read(reconcile.Place{Harness: events.Codex}, reconcile.Place{Home: "/elsewhere"}, reconcile.Place{PID: -1})
	if len(s.Peers)+len(s.Unread)+len(s.Gone)+len(s.Again) > 0 || w.h.homes[0].state != never {
		t.Errorf("%+v", s)
	}
	w.read(reconcile.Place{Session: "s"})
	w.holds("s")
}
