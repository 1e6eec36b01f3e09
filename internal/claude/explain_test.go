package claude

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"peerbus/events"
	"peerbus/reconcile"
)

// explained is a peer whose explanations are asked for.
type explained struct {
	*world
	p    process
	peer events.Peer
	rec  written
}

func newExplained(t *testing.T) *explained {
	t.Helper()
	w, p := newWorld(t), spawn(t)
	w.h.domain = "linux:m:pid:[1]"
	x := &explained{world: w, p: p, rec: p.idle("s")}
	x.rec.Domain = w.h.domain
	w.write(x.rec)
	w.read()
	x.peer = w.only()
	return x
}

func (x *explained) process(ok bool, says string) reconcile.Evidence {
	return reconcile.Evidence{Source: "process", About: strconv.Itoa(x.p.pid), OK: ok, Says: says}
}

func (x *explained) alive() reconcile.Evidence {
	return x.process(true, "is alive, with start "+x.p.start)
}

func (x *explained) record(ok bool, says string) reconcile.Evidence {
	return reconcile.Evidence{Source: "record", About: strconv.Quote(x.file(x.p.pid)), OK: ok, Says: says}
}

func (x *explained) ours() reconcile.Evidence {
	return x.record(true, `is about this session, with status "idle"`)
}

func (x *explained) start() reconcile.Evidence {
	return x.record(true, `procStart "`+x.p.procStart()+`" is the start of the process`)
}

// by fails the test unless the explanation is that verdict by that evidence.
func (x *explained) by(verdict string, evidence ...reconcile.Evidence) {
	x.Helper()
	got := x.h.Explain(x.Context(), x.peer)
	want := reconcile.Explanation{Verdict: verdict, Evidence: evidence}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(reconcile.Evidence{}, "Time")); d != "" {
		x.Errorf("explanation (-want +got):\n%s", d)
	}
}

func TestExplainByTheRecord(t *testing.T) {
	x := newExplained(t)
	x.by("alive", x.alive(), x.ours(), x.start())
	for _, tc := range []struct {
		change func(*written)
		says   string
	}{
		{func(r *written) { r.Session = "t\x1b" }, `is about another session now: "t\x1b"`},
		{func(r *written) { r.Parked = "j" }, `was handed to the background job "j"`},
		{func(r *written) { r.Spare = true }, "was started in advance and has no session"},
		{func(r *written) { r.Domain = "linux:x" }, `was written in another pid domain: "linux:x"`},
	} {
		r := x.rec
		tc.change(&r)
		x.write(r)
		x.by("alive", x.alive(), x.record(false, tc.says), x.start())
	}
	r := x.rec
	r.ProcStart = process{start: "1"}.procStart()
	x.write(r)
	x.by("replaced", x.alive(), x.ours(), x.record(false, `procStart "`+r.ProcStart+`" is not the start of the process`))
	x.must(os.WriteFile(x.file(x.p.pid), nil, 0o600))
	x.by("alive", x.alive(), x.record(false, "not one whole JSON object: unexpected end of JSON input"))
	x.must(os.Remove(x.file(x.p.pid)))
	x.by("alive", x.alive(), x.record(false, "no such file or directory"))
	x.must(os.Remove(x.folder()))
	x.by("alive", x.alive(), x.record(false, "no such file or directory"))
}

func TestExplainByTheProcess(t *testing.T) {
	x := newExplained(t)
	x.peer.Start = "1"
	x.by("replaced", x.process(false, "is another one, with start "+x.p.start+` and not "1"`), x.ours(), x.start())
	x.peer.Start = x.p.start
	x.p.end()
	x.by("dead", x.process(false, "has ended"), x.ours())
	x.peer.Home = "/elsewhere\x1b"
	x.by("dead", x.process(false, "has ended"), reconcile.Evidence{
		Source: "record", About: `"/elsewhere\x1b"`, Says: "is no home that is looked at",
	})
}

func TestExplainByTheSocket(t *testing.T) {
	x := newExplained(t)
	x.rec.Socket = filepath.Join(x.dir, "s")
	x.write(x.rec)
	socket := func(ok bool, says string) reconcile.Evidence {
		return reconcile.Evidence{Source: "socket", About: strconv.Quote(x.rec.Socket), OK: ok, Says: says}
	}
	x.by("alive", x.alive(), x.ours(), x.start(), socket(false, "no such file or directory"))
	x.must(os.WriteFile(x.rec.Socket, nil, 0o600))
	x.by("alive", x.alive(), x.ours(), x.start(), socket(false, "is there and is no socket"))
	x.must(os.Remove(x.rec.Socket))
	l, err := net.Listen("unix", x.rec.Socket)
	x.must(err)
	defer l.Close()
	x.by("alive", x.alive(), x.ours(), x.start(), socket(true, "is there"))
}

func TestExplainReadsATornRecordAgain(t *testing.T) {
	x := newExplained(t)
	x.must(os.WriteFile(x.file(x.p.pid), nil, 0o600))
	var all time.Duration
	for _, wait := range tornRetries {
		all += wait
	}
	began := time.Now()
	x.by("alive", x.alive(), x.record(false, "not one whole JSON object: unexpected end of JSON input"))
	if took := time.Since(began); took < all {
		t.Errorf("gave up after %v, want not before %v", took, all)
	}
	x.write(x.rec)
	x.by("alive", x.alive(), x.ours(), x.start())
}
