package events_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
)

// log is what a stream holds: the message of sequence i+1 at i.
type log []events.Event

// logs draws logs in which few peers come and go in any order, as what is left of a log after retention may have it.
var logs = rapid.Custom(func(t *rapid.T) log {
	few := rapid.Custom(func(t *rapid.T) events.Peer {
		return events.Peer{
			Harness: rapid.SampledFrom([]string{events.Claude, events.Codex}).Draw(t, "harness"),
			Session: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"),
			PID:     rapid.IntRange(2, 3).Draw(t, "pid"), Start: rapid.SampledFrom([]string{"0", "1"}).Draw(t, "start"),
			Status: statuses.Draw(t, "status"), Name: texts.Draw(t, "name"),
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) events.Event {
		m := events.Meta{Host: rapid.SampledFrom([]string{"h", "i"}).Draw(t, "host"), Time: times.Draw(t, "time")}
		p := few.Draw(t, "peer")
		switch rapid.IntRange(0, 5).Draw(t, "type") {
		case 0:
			return events.PeerAppeared{Meta: m, Peer: p}
		case 1:
			return events.StatusChanged{Meta: m, Peer: p}
		case 2:
			return events.PeerChanged{Meta: m, Peer: p}
		case 3:
			return events.PeerPresent{Meta: m, Peer: p}
		case 4:
			return events.PeerGone{Meta: m, Peer: p, Reason: events.Exited}
		default:
			return events.WatchResumed{Meta: m, Why: events.Start}
		}
	}), 0, 60).Draw(t, "log")
})

func (l log) fold() events.View {
	view := events.View{}
	for i, e := range l {
		view.Apply(uint64(i+1), e)
	}
	return view
}

// A peer is there if the last event about it, whatever came before, does not say that it is gone.
func TestViewIsTheLastEventOfEachPeer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := logs.Draw(t, "log")
		last := map[events.ID]events.Last{}
		for i, e := range l {
			if p, ok := events.PeerOf(e); ok {
				last[p.ID(e.Head().Host)] = events.Last{Seq: uint64(i + 1), Event: e}
			}
		}
		want := events.View{}
		for id, at := range last {
			if _, gone := at.Event.(events.PeerGone); !gone {
				want[id] = at
			}
		}
		if d := cmp.Diff(want, l.fold()); d != "" {
			t.Fatalf("view (-want +got):\n%s", d)
		}
	})
}

// With the last message of each subject alone, the highest sequence of a peer's subjects counts.
func TestViewOfTheLastOfEachSubject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := logs.Draw(t, "log")
		last := map[string]int{}
		for i, e := range l {
			last[e.Subject()] = i
		}
		got := events.View{}
		for i, e := range l {
			if last[e.Subject()] == i {
				got.Apply(uint64(i+1), e)
			}
		}
		if d := cmp.Diff(l.fold(), got); d != "" {
			t.Fatalf("view (-all +last of each subject):\n%s", d)
		}
	})
}

// A reader that meets types it does not know ends with the same view.
func TestViewWithoutTheTypesOneDoesNotKnow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := logs.Draw(t, "log")
		got, want := events.View{}, events.View{}
		var seq uint64
		for _, e := range l {
			seq++
			want.Apply(seq, e)
			data, err := events.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			back, err := events.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			got.Apply(seq, back)
			if rapid.Bool().Draw(t, "something new") {
				seq++
				if e, err := events.Decode([]byte(`{"type":"PeerDreamt","host":"h","peer":[]}`)); !errors.Is(err, events.ErrUnknownType) {
					t.Fatalf("decoded to %#v (%v)", e, err)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("view (-want +got):\n%s", d)
		}
	})
}

func TestIDsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := logs.Draw(t, "log").fold()
		ids := view.IDs()
		if len(ids) != len(view) {
			t.Fatalf("%d IDs of %d peers", len(ids), len(view))
		}
		for i, id := range ids {
			if p := view[id].Peer(); p.ID(id.Host) != id {
				t.Fatalf("%v is filed under %v", p, id)
			}
			if i > 0 && ids[i-1].Compare(id) >= 0 {
				t.Fatalf("%v stands before %v", ids[i-1], id)
			}
		}
		if !slices.IsSortedFunc(ids, func(a, b events.ID) int { return -b.Compare(a) }) {
			t.Fatalf("Compare is not the same both ways for %v", ids)
		}
	})
}
