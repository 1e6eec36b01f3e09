package reconcile

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
)

const host = "laptop"

var at = time.UnixMilli(1796065268446)

func peer(session string, pid int, change ...func(*events.Peer)) events.Peer {
	p := events.Peer{
		Harness: events.Claude, Session: session, PID: pid, Start: "31702", Home: "/home/u/.claude",
		Name: "proj-93", Status: events.Idle, VendorStatus: "idle", StatusSince: 1796065260000,
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func viewOf(peers ...events.Peer) events.View {
	v := make(events.View)
	for i, p := range peers {
		v.Apply(uint64(i+1), events.PeerAppeared{Meta: events.Meta{Host: host}, Peer: p})
	}
	return v
}

func busy(p *events.Peer) {
	p.Status, p.VendorStatus, p.StatusSince = events.Busy, "busy", p.StatusSince+1000
}
func named(p *events.Peer) { p.Name = "weird:`name` %x" }

func ended(reason events.Reason, peers ...events.Peer) map[events.ID]Going {
	out := make(map[events.ID]Going)
	for _, p := range peers {
		out[p.ID("")] = Going{Reason: reason}
	}
	return out
}

func TestDiff(t *testing.T) {
	meta := events.Meta{Time: events.At(at), Host: host}
	a, b := peer("a", 6540), peer("b", 6541)
	waiting := peer("a", 6540, func(p *events.Peer) {
		p.Status, p.VendorStatus, p.WaitingFor = events.Waiting, "waiting", "permission prompt"
		p.StatusSince += 500
	})
	blind := Blind{From: at.Add(-time.Hour), To: at, Why: events.Start}

	for name, tc := range map[string]struct {
		view events.View
		seen Snapshot
		want []events.Event
	}{
		"nothing changed": {view: viewOf(a), seen: Snapshot{Peers: []events.Peer{a}}},
		"appeared":        {seen: Snapshot{Peers: []events.Peer{a}}, want: []events.Event{events.PeerAppeared{Meta: meta, Peer: a}}},
		"status": {
			view: viewOf(a), seen: Snapshot{Peers: []events.Peer{waiting}},
			want: []events.Event{events.StatusChanged{Meta: meta, Peer: waiting, Was: events.Was{
				Fields: []string{"status", "status_since", "vendor_status", "waiting_for"},
				Old:    events.Peer{Status: events.Idle, VendorStatus: "idle", StatusSince: a.StatusSince},
			}}},
		},
		"name and status in one rewrite: the name first, with the old status": {
			view: viewOf(a), seen: Snapshot{Peers: []events.Peer{peer("a", 6540, named, busy)}},
			want: []events.Event{
				events.PeerChanged{Meta: meta, Peer: peer("a", 6540, named), Was: events.Was{
					Fields: []string{"name"}, Old: events.Peer{Name: "proj-93"},
				}},
				events.StatusChanged{Meta: meta, Peer: peer("a", 6540, named, busy), Was: events.Was{
					Fields: []string{"status", "status_since", "vendor_status"},
					Old:    events.Peer{Status: events.Idle, VendorStatus: "idle", StatusSince: a.StatusSince},
				}},
			},
		},
		"status_since alone is a change": {
			view: viewOf(a), seen: Snapshot{Peers: []events.Peer{peer("a", 6540, func(p *events.Peer) { p.StatusSince += 7 })}},
			want: []events.Event{events.PeerChanged{
				Meta: meta, Peer: peer("a", 6540, func(p *events.Peer) { p.StatusSince += 7 }),
				Was: events.Was{Fields: []string{"status_since"}, Old: events.Peer{StatusSince: a.StatusSince}},
			}},
		},
		"gone with its reason":         {view: viewOf(a), seen: Snapshot{Gone: ended(events.Died, a)}, want: []events.Event{events.PeerGone{Meta: meta, Peer: a, Reason: events.Died}}},
		"no reason, no going":          {view: viewOf(a), seen: Snapshot{}},
		"unread is not gone":           {view: viewOf(a), seen: Snapshot{Unread: []Place{{Harness: events.Claude, Home: a.Home}}, Gone: ended(events.Exited, a)}},
		"out of scope is not gone":     {view: viewOf(a), seen: Snapshot{Of: []Place{{PID: 7}}, Gone: ended(events.Exited, a)}},
		"another host's peer is left":  {view: events.View{a.ID("other"): {Event: events.PeerAppeared{Meta: events.Meta{Host: "other"}, Peer: a}}}, seen: Snapshot{Gone: ended(events.Exited, a)}},
		"another codex thread is left": {view: viewOf(codex("a")), seen: Snapshot{Peers: []events.Peer{codex("b")}}, want: []events.Event{events.PeerAppeared{Meta: meta, Peer: codex("b")}}},
		"switched: the end before the beginning": {
			view: viewOf(b), seen: Snapshot{Peers: []events.Peer{peer("a", 6541)}},
			want: []events.Event{
				events.PeerGone{Meta: meta, Peer: b, Reason: events.Switched, Successor: events.Ref{Session: "a", Instance: "6541-31702"}},
				events.PeerAppeared{Meta: meta, Peer: peer("a", 6541)},
			},
		},
		"two processes hold one session": {
			view: viewOf(a), seen: Snapshot{Peers: []events.Peer{a, peer("a", 7000)}},
			want: []events.Event{events.PeerAppeared{Meta: meta, Peer: peer("a", 7000)}},
		},
		"missed while blind": {
			view: viewOf(a, b), seen: Snapshot{Peers: []events.Peer{b}, Gone: ended(events.Exited, a), Blind: []Blind{blind}},
			want: []events.Event{
				events.WatchResumed{Meta: meta, BlindFrom: events.At(blind.From), BlindTo: events.At(at), Why: events.Start},
				events.PeerGone{Meta: meta, Peer: a, Reason: events.Exited, Missed: true, NotBefore: events.At(blind.From)},
			},
		},
		"nobody ever watched before": {
			seen: Snapshot{Blind: []Blind{{To: at, Why: events.Start}}},
			want: []events.Event{events.WatchResumed{Meta: meta, BlindTo: events.At(at), Why: events.Start}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.seen.At, tc.seen.Host = at, host
			got := Diff(tc.view, tc.seen.Keeping(tc.view))
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}

func codex(thread string) events.Peer {
	return events.Peer{Harness: events.Codex, Session: thread, PID: 9000, Start: "5", Home: "/home/u/.codex", Status: events.Idle}
}

// Every compared field of a peer must be seen by Diff, a field that is added later too.
func TestDiffSeesEveryField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := anyPeer().Draw(t, "old")
		now := anyPeer().Draw(t, "now")
		now.Harness, now.Session, now.PID, now.Start = old.Harness, old.Session, old.PID, old.Start
		view := viewOf(old)
		for i, e := range Diff(view, Snapshot{At: at, Host: host, Peers: []events.Peer{now}}) {
			before := view[old.ID(host)].Peer()
			checkTransition(t, before, e)
			view.Apply(uint64(i+2), e)
		}
		if got := view[old.ID(host)].Peer(); got != now {
			t.Fatalf("after the events %+v, want %+v", got, now)
		}
	})
}

// checkTransition holds was against the state before: each field named has the old value and is another one now, and
// an event changes no field that it does not name.
func checkTransition(t *rapid.T, before events.Peer, e events.Event) {
	var w events.Was
	switch e := e.(type) {
	case events.StatusChanged:
		w = e.Was
		if !w.Has("status") && !w.Has("vendor_status") && !w.Has("waiting_for") {
			t.Fatalf("StatusChanged with none of its fields changed: %v", w.Fields)
		}
	case events.PeerChanged:
		w = e.Was
	default:
		t.Fatalf("%T between a peer and itself", e)
	}
	if len(w.Fields) == 0 {
		t.Fatalf("%T with nothing changed", e)
	}
	after, _ := events.PeerOf(e)
	restored := after
	for _, f := range w.Fields {
		copyField[f](&restored, w.Old)
	}
	if restored != before {
		t.Fatalf("with the old values put back %+v, want %+v", restored, before)
	}
}

func anyPeer() *rapid.Generator[events.Peer] {
	word := rapid.SampledFrom([]string{"", "x", "y"})
	return rapid.Custom(func(t *rapid.T) events.Peer {
		return events.Peer{
			Harness: rapid.SampledFrom([]string{events.Claude, events.Codex}).Draw(t, "harness"),
			Session: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session"),
			PID:     rapid.IntRange(2, 5).Draw(t, "pid"),
			Start:   rapid.SampledFrom([]string{"0", "1"}).Draw(t, "start"),
			Name:    word.Draw(t, "name"), Cwd: word.Draw(t, "cwd"), Home: word.Draw(t, "home"),
			Kind: word.Draw(t, "kind"), Entrypoint: word.Draw(t, "entrypoint"), Version: word.Draw(t, "version"),
			Status:       rapid.SampledFrom([]events.Status{events.Busy, events.Idle, events.Waiting, events.Unknown}).Draw(t, "status"),
			VendorStatus: word.Draw(t, "vendor"), WaitingFor: word.Draw(t, "waiting"),
			StatusSince: events.Time(rapid.Int64Range(0, 2).Draw(t, "since")), Started: events.Time(rapid.Int64Range(0, 2).Draw(t, "started")),
			Addressable: rapid.Bool().Draw(t, "addressable"), Socket: word.Draw(t, "socket"), Endpoint: word.Draw(t, "endpoint"),
			Tmux: word.Draw(t, "tmux"), Job: word.Draw(t, "job"), Parent: word.Draw(t, "parent"),
		}
	})
}

func anyPlace() *rapid.Generator[Place] {
	return rapid.Custom(func(t *rapid.T) Place {
		return Place{
			Harness: rapid.SampledFrom([]string{"", events.Claude}).Draw(t, "of harness"),
			Home:    rapid.SampledFrom([]string{"", "x"}).Draw(t, "of home"),
			PID:     rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "of pid"),
		}
	})
}

func anyPeers(t *rapid.T, label string) []events.Peer {
	// A claude process holds one session at a time.
	return rapid.SliceOfNDistinct(anyPeer(), 0, 8, func(p events.Peer) string {
		if single(p) {
			return p.Instance()
		}
		return p.Instance() + p.Session
	}).Draw(t, label)
}

// The law of the project: what is replayed is what is there, and what was not looked at stays as it was.
func TestReplayedIsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := viewOf(anyPeers(t, "before")...)
		s := Snapshot{
			At: at, Host: host, Peers: anyPeers(t, "seen"), Gone: make(map[events.ID]Going),
			Of: rapid.SliceOfN(anyPlace(), 0, 2).Draw(t, "of"), Unread: rapid.SliceOfN(anyPlace(), 0, 1).Draw(t, "unread"),
		}
		s.Peers = slices.DeleteFunc(s.Peers, func(p events.Peer) bool { return !s.covers(p) || holdsAny(s.Unread, p) })
		for id := range view {
			if rapid.Bool().Draw(t, "reason") {
				s.Gone[view[id].Peer().ID("")] = Going{Reason: events.Exited}
			}
		}
		before := maps.Clone(view)
		kept := s.Keeping(view)
		for i, e := range Diff(view, kept) {
			view.Apply(uint64(100+i), e)
		}
		want := make(map[events.ID]events.Peer)
		for id, last := range before {
			if !s.covers(last.Peer()) || holdsAny(s.Unread, last.Peer()) {
				want[id] = last.Peer()
			}
		}
		for _, p := range kept.Peers {
			want[p.ID(host)] = p
		}
		got := make(map[events.ID]events.Peer)
		for id, last := range view {
			got[id] = last.Peer()
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("replayed (-want +got):\n%s", d)
		}
		if again := Diff(view, s.Keeping(view)); len(again) > 0 {
			t.Fatalf("looking again at the same world gives %d events", len(again))
		}
	})
}
