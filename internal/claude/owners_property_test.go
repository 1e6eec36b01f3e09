package claude

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// someEntries are records as they may lie in a folder, of sessions that are asked for and of others.
var someEntries = rapid.Custom(func(t *rapid.T) entry {
	e := entry{about: "sessions/x.json", pid: rapid.IntRange(2, 6).Draw(t, "pid"), written: time.Unix(rapid.Int64Range(0, 2).Draw(t, "written")*1000, 0)}
	if rapid.IntRange(0, 4).Draw(t, "broken") == 0 {
		e.doubt, e.why = occupancy.RegistryUnreadable, ErrTorn
		return e
	}
	one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	e.rec = Record{
		PID: e.pid, Session: one("session", threadA, threadB), ProcStart: one("procStart", "", "5", "6", "x"),
		Domain: one("domain", "", "linux:a:pid:[1]", "linux:b:pid:[1]"), Socket: one("socket", "", "/", "/none/such"),
		Job: one("job", "", "j"), Parked: one("parked", "", "", "j"), Spare: rapid.Bool().Draw(t, "spare"),
	}
	return e
})

// TestAddingDoubtToAFolderNeverMakesAttachable puts a record that cannot be read among others of all kinds, whose
// processes are alive, dead, others, or cannot be asked.
func TestAddingDoubtToAFolderNeverMakesAttachable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sights := rapid.SliceOfN(rapid.SampledFrom([]proc.Sight{
			{Verdict: proc.Alive, Start: "5"}, {Verdict: proc.Alive, Start: proc.Unread}, {Verdict: proc.Dead}, {Err: errors.New("too many open files")},
		}), 7, 7).Draw(t, "sights")
		r := &registry{
			owners:  owners{homes: []string{""}, domain: "linux:a:pid:[1]", look: func(pid int) proc.Sight { return sights[pid] }},
			entries: rapid.SliceOfN(someEntries, 0, 6).Draw(t, "entries"), boot: time.Unix(1500, 0),
		}
		judge := func() occupancy.Verdict {
			f := r.about(t.Context(), threadA)
			return occupancy.Judge(occupancy.Question{Harness: events.Claude, Thread: threadA}, occupancy.Evidence{Found: f})
		}
		before := judge()
		if before.Attachable && slices.ContainsFunc(r.entries, func(e entry) bool {
			return e.doubt != "" || e.rec.Session == threadA && e.rec.Parked == "" && sights[e.pid].Verdict == proc.Unknown
		}) {
			t.Fatalf("attachable in doubt: %+v", before)
		}
		at := rapid.IntRange(0, len(r.entries)).Draw(t, "at")
		r.entries = slices.Insert(slices.Clone(r.entries), at, entry{about: "sessions/812.json", pid: 812, doubt: occupancy.RegistryUnreadable, why: ErrTorn})
		after := judge()
		if after.Attachable || before.Reason == occupancy.LiveProcess && after.Reason != occupancy.LiveProcess {
			t.Fatalf("before %+v, after %+v", before, after)
		}
	})
}
