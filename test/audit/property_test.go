package audit

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/reconcile"
)

// drawLog is what a loop publishes that sees worlds at random, every one a second after the one before.
func drawLog(t *rapid.T) []events.Last {
	view := make(events.View)
	var log []events.Last
	looks := rapid.IntRange(1, 8).Draw(t, "looks")
	for i := range looks {
		at := (t0 + events.Time(1000*i)).Std()
		s := reconcile.Snapshot{At: at, Host: "laptop", Peers: drawPeers(t), Gone: make(map[events.ID]reconcile.Going)}
		if i == 0 {
			s.Blind = []reconcile.Blind{{To: at, Why: events.Start}}
		} else if rapid.IntRange(0, 3).Draw(t, "blind") == 0 {
			s.Blind = []reconcile.Blind{{From: at.Add(-1e9), To: at, Why: events.Start}}
		}
		for _, last := range view {
			if p := last.Peer(); rapid.Bool().Draw(t, "gone") && !holdsAnother(s.Peers, p) {
				s.Gone[p.ID("")] = reconcile.Going{Reason: events.Died}
			}
		}
		for _, e := range reconcile.Diff(view, s.Keeping(view)) {
			m := e.Head()
			m.ID, m.Epoch = strconv.Itoa(len(log)), "7f3a"
			e = events.Stamp(e, m)
			log = append(log, events.Last{Seq: uint64(len(log) + 1), Event: e})
			view.Apply(log[len(log)-1].Seq, e)
		}
	}
	return log
}

// holdsAnother tells whether p's process is among the peers: then p did not die.
func holdsAnother(peers []events.Peer, p events.Peer) bool {
	return slices.ContainsFunc(peers, func(q events.Peer) bool { return q.PID == p.PID })
}

func drawPeers(t *rapid.T) []events.Peer {
	one := rapid.Custom(func(t *rapid.T) events.Peer {
		return peer(func(p *events.Peer) {
			p.Session = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session")
			p.PID = rapid.IntRange(5, 9).Draw(t, "pid")
			p.Name = rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "name")
			p.VendorStatus = rapid.SampledFrom([]string{"idle", "shell", ""}).Draw(t, "vendor")
			p.WaitingFor = rapid.SampledFrom([]string{"", "dialog open"}).Draw(t, "waiting")
			p.StatusSince = events.Time(rapid.Int64Range(0, 2).Draw(t, "since"))
		})
	})
	return rapid.SliceOfNDistinct(one, 0, 5, func(p events.Peer) int { return p.PID }).Draw(t, "peers")
}

func TestWhatALoopPublishesHasNoProblem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		for _, p := range Audit(log) {
			t.Errorf("%v", p)
		}
		for _, p := range Audit(log[rapid.IntRange(0, len(log)-1).Draw(t, "forgotten"):]) {
			t.Errorf("forgotten: %v", p)
		}
	})
}

func TestAnEventToldTwiceIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		i := rapid.IntRange(0, len(log)-1).Draw(t, "event")
		if _, ok := log[i].Event.(events.WatchResumed); ok {
			return // two blindnesses may follow each other
		}
		m := log[i].Event.Head()
		m.ID = "again"
		again := slices.Insert(slices.Clone(log), i+1, events.Last{Event: events.Stamp(log[i].Event, m)})
		for i := range again {
			again[i].Seq = uint64(i + 1)
		}
		if len(Audit(again)) == 0 {
			t.Fatalf("%T at %d told twice, and no problem", log[i].Event, i)
		}
	})
}

func TestAMissingEventIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		i := rapid.IntRange(0, len(log)-1).Draw(t, "event")
		id := subject(log[i].Event)
		followed := slices.ContainsFunc(log[i+1:], func(l events.Last) bool { return subject(l.Event) == id })
		if id == (events.ID{}) || !followed {
			return
		}
		without := slices.Delete(slices.Clone(log), i, i+1)
		if len(Audit(without)) == 0 {
			t.Fatalf("%T at %d is missing, and no problem", log[i].Event, i)
		}
	})
}
