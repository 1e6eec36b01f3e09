package claude

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/occupancy"
)

const (
	threadA = "25c49259-5cd0-4744-a158-5d764d50082a"
	threadB = "7b0f6a6e-6f43-4c62-8f0e-0d2f7d3a9a11"
)

// register is a home that is asked who holds a session.
type register struct {
	testing.TB
	home   string
	socket string // a path at which there is something
	ledger []occupancy.Process
}

func newRegister(t testing.TB) *register {
	t.Helper()
	r := &register{TB: t, home: t.TempDir()}
	r.socket = filepath.Join(r.home, "a.sock")
	r.must(os.Mkdir(r.folder(), 0o700))
	r.must(os.WriteFile(r.socket, nil, 0o600))
	return r
}

func (r *register) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *register) folder() string { return filepath.Join(r.home, "sessions") }

// record is what an idle session in p writes.
func (r *register) record(p process, thread string) written {
	rec := p.idle(thread)
	rec.Socket = r.socket
	return rec
}

func (r *register) write(recs ...written) {
	r.Helper()
	for _, rec := range recs {
		r.must(writeRecord(r.folder(), rec))
	}
}

// put puts a file among the records.
func (r *register) put(name, content string) {
	r.Helper()
	r.must(os.WriteFile(filepath.Join(r.folder(), name), []byte(content), 0o600))
}

// written sets when the record of pid was written.
func (r *register) written(pid int, at time.Time) {
	r.Helper()
	r.must(os.Chtimes(filepath.Join(r.folder(), fileName(pid)), at, at))
}

func (r *register) ask(thread string, more ...string) occupancy.Verdict {
	look := Owners(append([]string{r.home}, more...))
	ledger := func(context.Context) ([]occupancy.Process, error) { return r.ledger, nil }
	g := occupancy.NewGatherer(map[string]occupancy.Look{events.Claude: look}, ledger, false)
	defer g.Close()
	return g.Ask(r.Context(), occupancy.Question{Harness: events.Claude, Thread: thread})
}

// wants fails the test unless the verdict on threadA has that reason, "" being that it is attachable.
func (r *register) wants(want occupancy.Reason) occupancy.Verdict {
	r.Helper()
	v := r.ask(threadA)
	if v.Reason != want || v.Attachable != (want == "") {
		r.Errorf("attachable %t, reason %q, want %q: %+v", v.Attachable, v.Reason, want, v)
	}
	return v
}

func TestOwnersNobody(t *testing.T) {
	r := newRegister(t)
	r.wants("")
	r.write(r.record(spawn(t), threadB))
	r.put("6540."+strings.Repeat("0", 64)+".key", "secret")
	r.put("pid-12.json", `{"pid":12}`)
	r.wants("")
}

// TestOwnersInEveryStatus has the owner idle, waiting, busy, in a background shell, and in words of tomorrow.
func TestOwnersInEveryStatus(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	for word, want := range map[string]events.Status{
		"idle": events.Idle, "waiting": events.Waiting, "busy": events.Busy, "shell": events.Idle,
		"dreaming": events.Unknown, "": events.Unknown,
	} {
		rec := r.record(p, threadA)
		rec.Status = word
		r.write(rec)
		v := r.wants(occupancy.LiveProcess)
		if d := cmp.Diff([]occupancy.Owner{{
			Harness: events.Claude, Thread: threadA, PID: p.pid, Start: p.start, Source: "claude-registry", Status: want,
		}}, v.Owners); d != "" {
			t.Errorf("%q: owners (-want +got):\n%s", word, d)
		}
	}
}

func TestOwnersDead(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	r.write(r.record(p, threadA))
	r.wants(occupancy.LiveProcess)
	p.end() // by SIGKILL: the record stays
	r.wants("")
}

// TestOwnersPIDReused has the pid borne by another process than the record's: whether the record's process ended, or
// its start was garbled, nobody knows.
func TestOwnersPIDReused(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	rec := r.record(p, threadA)
	rec.ProcStart = anotherStart(t, p)
	r.write(rec)
	r.wants(occupancy.UnverifiableProcessStart)
}

// anotherStart is a start as this system writes it, an hour off that of p.
func anotherStart(t testing.TB, p process) string {
	t.Helper()
	n, err := strconv.ParseInt(p.start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 100
	if runtime.GOOS == "linux" {
		n += 3600 * ticks
	} else {
		n += 3600
	}
	return process{start: strconv.FormatInt(n, 10)}.procStart()
}

// TestOwnersFromBeforeTheBoot has a record that is older than the machine's last start.
func TestOwnersFromBeforeTheBoot(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	boot, err := proc.Boot()
	r.must(err)
	before := boot.Add(-time.Hour)

	rec := r.record(p, threadA)
	rec.ProcStart = anotherStart(t, p)
	r.write(rec)
	r.written(p.pid, before)
	r.wants("")

	// A start proven the same is never overruled by a clock, and without a start the clock alone proves nothing.
	r.write(r.record(p, threadA))
	r.written(p.pid, before)
	r.wants(occupancy.LiveProcess)
	rec.ProcStart = ""
	r.write(rec)
	r.written(p.pid, before)
	r.wants(occupancy.UnverifiableProcessStart)
}

// TestOwnersParked has a window that handed its session to a background job: occupied while the job lives, then for as
// long as the window does.
func TestOwnersParked(t *testing.T) {
	r, window, job := newRegister(t), spawn(t), spawn(t)
	parked := r.record(window, threadA)
	parked.Parked = "job-1"
	background := r.record(job, threadB)
	background.Job, background.Kind = "job-1", "bg"
	r.write(parked, background)
	v := r.wants(occupancy.LiveProcess)
	if len(v.Owners) != 1 || v.Owners[0].PID != job.pid || v.Owners[0].Thread != threadA {
		t.Errorf("owners %+v, want the job %d", v.Owners, job.pid)
	}
	job.end()
	v = r.wants(occupancy.LiveProcess)
	if len(v.Owners) != 1 || v.Owners[0].PID != window.pid {
		t.Errorf("owners %+v, want the window %d", v.Owners, window.pid)
	}
	window.end()
	r.wants("")
}

func TestOwnersParkedWithAJobInDoubt(t *testing.T) {
	r, window, job := newRegister(t), spawn(t), spawn(t)
	parked := r.record(window, threadA)
	parked.Parked = "job-1"
	background := r.record(job, threadB)
	background.Job, background.ProcStart = "job-1", ""
	r.write(parked, background)
	window.end()
	r.wants(occupancy.UnverifiableProcessStart)
}

// TestOwnersOfOneSessionAreAllListed has one session open in two windows.
func TestOwnersOfOneSessionAreAllListed(t *testing.T) {
	r := newRegister(t)
	r.write(r.record(spawn(t), threadA), r.record(spawn(t), threadA))
	if v := r.wants(occupancy.LiveProcess); len(v.Owners) != 2 {
		t.Errorf("owners %+v", v.Owners)
	}
}

func TestOwnersInAnotherPIDDomain(t *testing.T) {
	own := proc.Domain()
	if own == "" {
		own = runtime.GOOS
	}
	r, p := newRegister(t), spawn(t)
	rec := r.record(p, threadA)
	rec.Domain = own
	r.write(rec)
	r.wants(occupancy.LiveProcess)
	for _, domain := range []string{
		"linux:ffffffffffffffffffffffffffffffff:pid:[4026531836]", "linux:" + strings.Repeat("0", 32) + ":pid:[1]", "plan9:::",
	} {
		rec.Domain = domain
		r.write(rec)
		if runtime.GOOS != "linux" && strings.HasPrefix(domain, "plan9") {
			continue // where our own domain is not known, only the systems are told apart that the client runs on
		}
		r.wants(occupancy.ForeignPIDDomain)
	}
	p.end()
	r.wants(occupancy.ForeignPIDDomain)
}

func TestOwnersSocket(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	for name, tc := range map[string]struct {
		socket string
		want   occupancy.Reason
	}{
		"there":         {r.socket, occupancy.LiveProcess},
		"a folder":      {r.home, occupancy.LiveProcess},
		"not named":     {"", occupancy.UnverifiableLivenessSocket},
		"not there":     {r.socket + ".gone", occupancy.UnverifiableLivenessSocket},
		"in no folder":  {r.socket + "/x", occupancy.UnverifiableLivenessSocket},
		"relative":      {".", occupancy.UnverifiableLivenessSocket},
		"longer than 4": {"/" + strings.Repeat("./", 4096), occupancy.UnverifiableLivenessSocket},
	} {
		t.Run(name, func(t *testing.T) {
			r.TB = t
			rec := r.record(p, threadA)
			rec.Socket = tc.socket
			r.write(rec)
			r.wants(tc.want)
		})
	}
}

// TestOwnersSelfOwned has the spawn ledger name the owner, by its pid and its start or by less.
func TestOwnersSelfOwned(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	r.write(r.record(p, threadA))
	r.ledger = []occupancy.Process{{PID: p.pid, Start: p.start}}
	if v := r.wants(""); len(v.Owners) != 1 || !v.Owners[0].SelfOwned {
		t.Errorf("owners %+v", v.Owners)
	}
	for _, entry := range []occupancy.Process{{PID: p.pid, Start: p.start + "0"}, {PID: p.pid}, {PID: p.pid, Start: proc.Unread}, {Start: p.start}, {}} {
		r.ledger = []occupancy.Process{entry}
		r.wants(occupancy.LiveProcess)
	}
	r.ledger = []occupancy.Process{{PID: p.pid, Start: p.start}}
	r.write(r.record(spawn(t), threadA))
	if v := r.wants(occupancy.LiveProcess); len(v.Owners) != 2 {
		t.Errorf("owners %+v", v.Owners)
	}
}
