package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

const t0 events.Time = 1796065268446

// log is a log under construction; every event is a second after the one before, unless it is at the same look.
type log struct {
	all []events.Last
	at  events.Time
}

func (l *log) add(e events.Event, head ...func(*events.Meta)) *log {
	seq := uint64(len(l.all) + 1)
	m := events.Meta{ID: "id-" + strconv.FormatUint(seq, 10), Time: l.at, Host: "laptop", Epoch: "7f3a"}
	for _, h := range head {
		h(&m)
	}
	l.all = append(l.all, events.Last{Seq: seq, Event: events.Stamp(e, m)})
	return l
}

func (l *log) later(e events.Event, head ...func(*events.Meta)) *log {
	l.at += 1000
	return l.add(e, head...)
}

// begun is a log in which somebody has begun to watch.
func begun(first ...events.Event) *log {
	l := &log{at: t0}
	l.add(events.WatchResumed{BlindTo: t0, Why: events.Start})
	for _, e := range first {
		l.later(e)
	}
	return l
}

// forgotten is a log whose beginning is not retained any more.
func (l *log) forgotten(n int) *log { return &log{all: l.all[n:], at: l.at} }

func (l *log) reseq(i int, seq uint64) *log {
	l.all[i].Seq = seq
	return l
}

func peer(change ...func(*events.Peer)) events.Peer {
	p := events.Peer{
		Harness: events.Claude, Session: "a", PID: 6540, Start: "31702", Home: "/home/u/.claude", Name: "n",
		Status: events.Idle, VendorStatus: "idle", StatusSince: 7,
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func session(s string) func(*events.Peer)    { return func(p *events.Peer) { p.Session = s } }
func name(n string) func(*events.Peer)       { return func(p *events.Peer) { p.Name = n } }
func since(t events.Time) func(*events.Peer) { return func(p *events.Peer) { p.StatusSince = t } }
func busy(p *events.Peer)                    { p.Status, p.VendorStatus, p.StatusSince = events.Busy, "busy", 8 }
func codex(p *events.Peer)                   { p.Harness = events.Codex }

func appeared(change ...func(*events.Peer)) events.Event {
	return events.PeerAppeared{Peer: peer(change...)}
}

func present(change ...func(*events.Peer)) events.Event {
	return events.PeerPresent{Peer: peer(change...)}
}

func gone(reason events.Reason, change ...func(*events.Peer)) events.PeerGone {
	return events.PeerGone{Peer: peer(change...), Reason: reason}
}

func missed(notBefore events.Time) events.PeerGone {
	g := gone(events.Died)
	g.Missed, g.NotBefore = true, notBefore
	return g
}

func switchedTo(s string) events.PeerGone {
	g := gone(events.Switched)
	g.Successor = events.Ref{Session: s, Instance: g.Peer.Instance()}
	return g
}

// becameBusy is the change from peer() to peer(busy).
func becameBusy() events.StatusChanged {
	return events.StatusChanged{Peer: peer(busy), Was: was(peer(), "status", "status_since", "vendor_status")}
}

func renamed(from, to string) events.PeerChanged {
	return events.PeerChanged{Peer: peer(name(to)), Was: was(peer(name(from)), "name")}
}

// was is the fields of p with those keys.
func was(p events.Peer, keys ...string) events.Was {
	w := events.Was{Fields: keys}
	for _, k := range keys {
		put(&w.Old, p, k)
	}
	return w
}

func resumed(from, to events.Time) events.WatchResumed {
	return events.WatchResumed{BlindFrom: from, BlindTo: to, Why: events.Start}
}

// found is what is compared: where, and what.
type found struct {
	Seq  uint64
	Kind Kind
}

func audited(l *log) []found {
	var out []found
	for _, p := range Audit(l.all) {
		out = append(out, found{p.Seq, p.Kind})
	}
	return out
}

func TestGoodLogsHaveNoProblem(t *testing.T) {
	for name, l := range goodLogs() {
		t.Run(name, func(t *testing.T) {
			for _, p := range Audit(l.all) {
				t.Error(p)
			}
		})
	}
}

func TestEveryKindOfInvalidTransitionIsFound(t *testing.T) {
	seen := make(map[Kind]bool)
	for name, tc := range badLogs() {
		t.Run(name, func(t *testing.T) {
			got := audited(tc.log)
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
		})
		for _, f := range tc.want {
			seen[f.Kind] = true
		}
	}
	for name, kind := range kinds(t) {
		if !seen[kind] {
			t.Errorf("no bad log has %s (%s)", name, kind)
		}
	}
}

// kinds are the constants of type Kind, as they stand in the source.
func kinds(t *testing.T) map[string]Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]Kind)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[spec.Names[0].Name] = Kind(text)
		}
		return true
	})
	if len(out) < 10 {
		t.Fatalf("%d kinds found in the source", len(out))
	}
	return out
}

func TestProblemSaysWhere(t *testing.T) {
	got := Audit(begun(appeared(), appeared()).all)[0].String()
	for _, want := range []string{"seq 3", string(AppearedTwice), "claude a 6540-31702"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
