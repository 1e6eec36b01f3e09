package claude

import (
	"os"
	"strconv"
	"testing"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

func TestParkedNamesItsSuccessor(t *testing.T) {
	w, window, job := newWorld(t), spawn(t), spawn(t)
	w.write(window.idle("s"))
	w.read()
	r := window.idle("s")
	r.Parked = "j"
	w.write(r)
	w.read(w.at(window.pid))
	w.holds("s")
	if len(w.again) != 1 || w.again[0].Place != w.at(window.pid) || w.again[0].After > parkedGrace {
		t.Errorf("asks for %v", w.again)
	}
	next := job.idle("t")
	next.Job = "j"
	w.write(next)
	w.read(w.at(job.pid))
	w.holds("s", "t")
	if len(w.again) != 1 || w.again[0].Place != w.at(window.pid) {
		t.Fatalf("the job's record does not ask for the window, but for %v", w.again)
	}
	w.read(w.again[0].Place)
	w.holds("t")
	w.went(going{"s", window.pid, reconcile.Going{
		Reason: events.Parked, Job: "j",
		Successor: events.Ref{Session: "t", Instance: strconv.Itoa(job.pid) + "-" + job.start},
	}})
	w.says(fileName(window.pid), `the background job "j"`)

	t.Run("comes back when the record says so", func(t *testing.T) {
		w.write(window.idle("s"))
		w.read()
		w.holds("s", "t")
	})
}

func TestParkedFindsItsSuccessorInAnotherHome(t *testing.T) {
	second := t.TempDir()
	w, window, job := newWorld(t, second), spawn(t), spawn(t)
	w.write(window.idle("s"))
	w.read()
	next := job.idle("t")
	next.Job = "j"
	w.must(os.Mkdir(second+"/sessions", 0o700))
	w.must(writeRecord(second+"/sessions", next))
	r := window.idle("s")
	r.Parked = "j"
	w.write(r)
	w.read()
	w.holds("t")
	if len(w.gone) != 1 || w.gone[0].Successor.Session != "t" {
		t.Errorf("gone: %+v", w.gone)
	}
}

func TestParkedWithoutASuccessor(t *testing.T) {
	w, window, spareOne := newWorld(t), spawn(t), spawn(t)
	w.write(window.idle("s"))
	w.read()
	r := window.idle("s")
	r.Parked = "j"
	w.write(r)
	other := spareOne.idle("t")
	other.Job, other.Spare = "j", true
	w.write(other)
	w.read()
	w.holds("s")
	w.skew = parkedGrace
	w.read()
	w.holds()
	w.went(going{"s", window.pid, reconcile.Going{Reason: events.Parked, Job: "j"}})
}

func TestWhoIsNoPeer(t *testing.T) {
	p := spawn(t)
	for name, tc := range map[string]struct {
		change func(*written)
		says   string
	}{
		"spare":   {func(r *written) { r.Spare = true }, "is of a process that was started in advance"},
		"parked":  {func(r *written) { r.Parked = "j" }, `is of a session that was handed to the background job "j"`},
		"foreign": {func(r *written) { r.Domain = "linux:x:pid:[1]" }, `is of another pid domain: "linux:x:pid:[1]"`},
		"courier": {func(r *written) { r.Name = "courier" }, "is of a courier of ours"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.domain = "linux:m:pid:[1]"
			if name == "courier" {
				w.h.ours = func(id proc.Identity) bool { return id == proc.Identity{PID: p.pid, Start: p.start} }
			}
			r := p.idle("s")
			tc.change(&r)
			w.write(r)
			w.read()
			w.holds()
			w.says("ok claude record:", fileName(p.pid), tc.says)
		})
		t.Run(name+" that was a peer", func(t *testing.T) {
			w := newWorld(t)
			r := p.idle("s")
			w.write(r)
			w.read()
			w.holds("s")
			w.h.domain = "linux:m:pid:[1]"
			w.h.ours = func(proc.Identity) bool { return name == "courier" }
			tc.change(&r)
			w.write(r)
			w.read()
			w.holds("s")
			w.skew = goneGrace
			w.read()
			w.holds()
		})
	}
}

func TestForeignDomain(t *testing.T) {
	const own = "linux:m:pid:[1]"
	for _, tc := range []struct {
		domain, own, goos string
		want              bool
	}{
		{"", own, "linux", false},
		{own, own, "linux", false},
		{"linux:x:pid:[1]", own, "linux", true},
		{"linux:m:pid:[2]", own, "linux", true},
		{"darwin:m:pid:[1]", own, "linux", true},
		{own, "", "linux", false},
		{own, "", "darwin", true},
		{"win32:x", "", "windows", false},
		{"darwin:x", "", "darwin", false},
		{"mac:x", "", "darwin", false},
		{"linux:x:pid:[1]", "linux::pid:[1]", "linux", false},
		{"linux:x:pid:[2]", "linux::pid:[1]", "linux", true},
		{"nonsense", own, "linux", true},
	} {
		if got := foreign(tc.domain, tc.own, tc.goos); got != tc.want {
			t.Errorf("%q against %q on %s: %t", tc.domain, tc.own, tc.goos, got)
		}
	}
}
