package occupancy_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/occupancy"
)

const thread = "25c49259-5cd0-4744-a158-5d764d50082a"

var question = occupancy.Question{Harness: events.Claude, Thread: thread}

func owner(pid int, start string) occupancy.Owner {
	return occupancy.Owner{
		Harness: events.Claude, Thread: thread, PID: pid, Start: start, Source: "claude-registry", Status: events.Idle,
	}
}

func doubt(r occupancy.Reason) occupancy.Doubt {
	return occupancy.Doubt{Reason: r, About: "sessions/812.json", Why: "unexpected end of JSON input"}
}

func TestJudgeSaysWhyNot(t *testing.T) {
	found := func(owners []occupancy.Owner, doubts ...occupancy.Doubt) occupancy.Evidence {
		return occupancy.Evidence{Found: occupancy.Found{Read: true, Owners: owners, Doubts: doubts}}
	}
	held := []occupancy.Owner{owner(6540, "31702")}
	for name, tc := range map[string]struct {
		q    occupancy.Question
		ev   occupancy.Evidence
		want occupancy.Reason
	}{
		"nobody, and everything was read": {q: question, ev: found(nil), want: ""},
		"nobody has looked":               {q: question, want: occupancy.DetectorUnavailable},
		"not all was read": {
			q: question, ev: occupancy.Evidence{Found: occupancy.Found{Owners: held}, Ours: []occupancy.Process{{PID: 6540, Start: "31702"}}},
			want: occupancy.DetectorUnavailable,
		},
		"another provider":               {q: occupancy.Question{Harness: "cursor", Thread: thread}, ev: found(nil), want: occupancy.UnsupportedProvider},
		"another provider before its id": {q: occupancy.Question{Harness: "", Thread: "x"}, ev: found(nil), want: occupancy.UnsupportedProvider},
		"a bad id before what is disabled": {
			q: occupancy.Question{Harness: events.Codex, Thread: "x"}, ev: occupancy.Evidence{Disabled: true}, want: occupancy.InvalidThreadID,
		},
		"disabled before all that was found": {
			q: question, ev: occupancy.Evidence{Disabled: true, Found: occupancy.Found{Read: true, Owners: held}}, want: occupancy.AttachDisabled,
		},
		"a live owner":                   {q: question, ev: found(held), want: occupancy.LiveProcess},
		"a live owner outweighs a doubt": {q: question, ev: found(held, doubt(occupancy.RegistryUnreadable)), want: occupancy.LiveProcess},
		"the first of several doubts": {
			q: question, ev: found(nil, doubt(occupancy.ForeignPIDDomain), doubt(occupancy.ProbeFailed)), want: occupancy.ForeignPIDDomain,
		},
		"a doubt without a name": {q: question, ev: found(nil, occupancy.Doubt{}), want: occupancy.ProbeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			got := occupancy.Judge(tc.q, tc.ev)
			if got.Reason != tc.want || got.Attachable != (tc.want == "") {
				t.Errorf("attachable %t, reason %q, want %q", got.Attachable, got.Reason, tc.want)
			}
		})
	}
}

func TestJudgeListsOwnersAndDoubts(t *testing.T) {
	doubts := []occupancy.Doubt{doubt(occupancy.RegistryUnreadable), doubt(occupancy.ProbeFailed)}
	ours := owner(11, "5")
	got := occupancy.Judge(question, occupancy.Evidence{
		At:    time.UnixMilli(1796065217544),
		Found: occupancy.Found{Read: true, Owners: []occupancy.Owner{owner(6540, "31702"), ours, ours}, Doubts: doubts},
		Ours:  []occupancy.Process{{PID: 11, Start: "5"}},
	})
	ours.SelfOwned = true
	want := occupancy.Verdict{
		Reason: occupancy.LiveProcess, Time: 1796065217544,
		Owners: []occupancy.Owner{owner(6540, "31702"), ours}, Doubts: doubts,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("verdict (-want +got):\n%s", d)
	}
}

func TestSelfOwnedNeedsPIDAndStart(t *testing.T) {
	for name, tc := range map[string]struct {
		owner  occupancy.Owner
		ledger []occupancy.Process
		want   bool
	}{
		"both match":                {owner(11, "5"), []occupancy.Process{{PID: 10, Start: "5"}, {PID: 11, Start: "5"}}, true},
		"another start":             {owner(11, "5"), []occupancy.Process{{PID: 11, Start: "6"}}, false},
		"another pid":               {owner(11, "5"), []occupancy.Process{{PID: 12, Start: "5"}}, false},
		"an empty ledger":           {owner(11, "5"), nil, false},
		"a start nobody has read":   {owner(11, "0"), []occupancy.Process{{PID: 11, Start: "0"}}, false},
		"no start":                  {owner(11, ""), []occupancy.Process{{PID: 11}}, false},
		"a ledger with a joker":     {owner(11, "5"), []occupancy.Process{{}, {PID: 11}, {PID: 11, Start: "0"}, {PID: 11, Start: "*"}, {Start: "5"}, {PID: -1, Start: "5"}}, false},
		"an owner who says he's it": {occupancy.Owner{PID: 11, Start: "5", SelfOwned: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := occupancy.Judge(question, occupancy.Evidence{
				Found: occupancy.Found{Read: true, Owners: []occupancy.Owner{tc.owner}}, Ours: tc.ledger,
			})
			if v.Owners[0].SelfOwned != tc.want || v.Attachable != tc.want {
				t.Errorf("self-owned %t, attachable %t, want %t", v.Owners[0].SelfOwned, v.Attachable, tc.want)
			}
		})
	}
}

// TestThreadIDs has the ids that are none: each is a verdict, and the same one whatever was found.
func TestThreadIDs(t *testing.T) {
	for id, ok := range map[string]bool{
		thread:                                   true,
		"00000000-0000-0000-0000-000000000000":   true,
		"":                                       false,
		"25c49259":                               false,
		thread[:35]:                              false,
		thread + "0":                             false,
		thread + "\n":                            false,
		" " + thread[1:]:                         false,
		"25C49259-5CD0-4744-A158-5D764D50082A":   false,
		"25c492595cd04744a1585d764d50082a":       false,
		"{25c49259-5cd0-4744-a158-5d764d50082a}": false,
		"urn:uuid:25c49259-5cd0-4744-a158-5d764d50082a": false,
		"../../../../etc/passwd":                        false,
		"25c49259/5cd0/4744/a158/5d764d50082a":          false,
		"25c49259-5cd0-4744-a158-../../../../x":         false,
		"25c49259-5cd0-4744-a158-5d764d50082\x00":       false,
		"25c49259-5cd0-4744-a158-5d764d50082g":          false,
		"----------------------------5d764d50":          false,
	} {
		v := occupancy.Judge(occupancy.Question{Harness: events.Claude, Thread: id}, occupancy.Evidence{Found: occupancy.Found{Read: true}})
		if v.Attachable != ok || (v.Reason == occupancy.InvalidThreadID) == ok {
			t.Errorf("%q: attachable %t, reason %q, want valid %t", id, v.Attachable, v.Reason, ok)
		}
	}
}

// FuzzThreadID holds the check against another way of saying what a canonical UUID is.
func FuzzThreadID(f *testing.F) {
	canonical := regexp.MustCompile(`\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`)
	f.Add(thread)
	f.Add("25c49259-5cd0-4744-a158-5d764d50082A")
	f.Add("../25c49259-5cd0-4744-a158-5d764d500")
	f.Fuzz(func(t *testing.T, id string) {
		v := occupancy.Judge(occupancy.Question{Harness: events.Claude, Thread: id}, occupancy.Evidence{Found: occupancy.Found{Read: true}})
		if v.Attachable != canonical.MatchString(id) {
			t.Errorf("%q: attachable %t", id, v.Attachable)
		}
	})
}

var reasons = []occupancy.Reason{
	"", "a_reason_of_tomorrow", occupancy.LiveProcess, occupancy.UnsupportedProvider, occupancy.InvalidThreadID,
	occupancy.AttachDisabled, occupancy.DetectorUnavailable, occupancy.RegistryUnreadable, occupancy.UnverifiableProcessStart,
	occupancy.UnverifiableLivenessSocket, occupancy.ForeignPIDDomain, occupancy.HolderUnknown, occupancy.ProbeFailed,
}

var doubts = rapid.Custom(func(t *rapid.T) occupancy.Doubt {
	return occupancy.Doubt{
		Reason: rapid.SampledFrom(reasons).Draw(t, "reason"),
		About:  rapid.String().Draw(t, "about"), Why: rapid.String().Draw(t, "why"),
	}
})

var processes = rapid.Custom(func(t *rapid.T) occupancy.Process {
	return occupancy.Process{
		PID: rapid.IntRange(-1, 3).Draw(t, "pid"), Start: rapid.SampledFrom([]string{"", "0", "5", "6"}).Draw(t, "start"),
	}
})

var owners = rapid.Custom(func(t *rapid.T) occupancy.Owner {
	p := processes.Draw(t, "process")
	return occupancy.Owner{PID: p.PID, Start: p.Start, SelfOwned: rapid.Bool().Draw(t, "self-owned")}
})

var evidence = rapid.Custom(func(t *rapid.T) occupancy.Evidence {
	ev := occupancy.Evidence{
		Disabled: rapid.Bool().Draw(t, "disabled"), Ours: rapid.SliceOfN(processes, 0, 4).Draw(t, "ours"),
	}
	ev.Found = occupancy.Found{
		Read: rapid.Bool().Draw(t, "read"), Owners: rapid.SliceOfN(owners, 0, 3).Draw(t, "owners"),
		Doubts: rapid.SliceOfN(doubts, 0, 3).Draw(t, "doubts"),
	}
	return ev
})

var questions = rapid.Custom(func(t *rapid.T) occupancy.Question {
	return occupancy.Question{
		Harness: rapid.SampledFrom([]string{events.Claude, events.Codex, "", "cursor"}).Draw(t, "harness"),
		Thread:  rapid.SampledFrom([]string{thread, thread, "x"}).Draw(t, "thread"),
	}
})

// TestAddingDoubtNeverMakesAttachable is the law of the whole package: more doubt, of whatever kind and wherever among
// the rest, makes nothing attachable that was not, and nothing with a doubt is.
func TestAddingDoubtNeverMakesAttachable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ev := questions.Draw(t, "question"), evidence.Draw(t, "evidence")
		before := occupancy.Judge(q, ev)
		at := rapid.IntRange(0, len(ev.Found.Doubts)).Draw(t, "at")
		ev.Found.Doubts = slices.Insert(slices.Clone(ev.Found.Doubts), at, doubts.Draw(t, "doubt"))
		after := occupancy.Judge(q, ev)
		if after.Attachable {
			t.Fatalf("attachable in doubt: before %+v, after %+v", before, after)
		}
		held := slices.ContainsFunc(before.Owners, func(o occupancy.Owner) bool { return !o.SelfOwned })
		if held && after.Reason != occupancy.LiveProcess {
			t.Fatalf("a doubt hides a live owner: before %+v, after %+v", before, after)
		}
	})
}

func TestAttachableNeedsAllOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, ev := questions.Draw(t, "question"), evidence.Draw(t, "evidence")
		v := occupancy.Judge(q, ev)
		if v.Attachable != (v.Reason == "") {
			t.Fatalf("attachable %t with reason %q", v.Attachable, v.Reason)
		}
		if !v.Attachable {
			return
		}
		foreign := func(o occupancy.Owner) bool {
			return !slices.Contains(ev.Ours, occupancy.Process{PID: o.PID, Start: o.Start})
		}
		if q.Harness == "" || q.Thread != thread || ev.Disabled || !ev.Found.Read || len(ev.Found.Doubts) > 0 ||
			slices.ContainsFunc(ev.Found.Owners, foreign) {
			t.Fatalf("attachable: %+v, %+v", q, ev)
		}
	})
}

func ExampleJudge() {
	v := occupancy.Judge(
		occupancy.Question{Harness: events.Claude, Thread: "25c49259-5cd0-4744-a158-5d764d50082a"},
		occupancy.Evidence{Found: occupancy.Found{
			Read:   true,
			Doubts: []occupancy.Doubt{{Reason: occupancy.RegistryUnreadable, About: "sessions/812.json", Why: "unexpected end of JSON input"}},
		}},
	)
	fmt.Println(v.Attachable, v.Reason)
	// Output: false registry_unreadable
}
