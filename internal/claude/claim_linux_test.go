package claude

import (
	"testing"
	"time"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// TestProcStartInEitherSpelling has the start in Linux ticks, in macOS text, absent and garbled.
func TestProcStartInEitherSpelling(t *testing.T) {
	began := time.Date(2026, 8, 16, 2, 3, 5, 400e6, time.UTC)
	sight := proc.Sight{Verdict: proc.Alive, Start: "31702", Began: began}
	hidden := proc.Sight{Verdict: proc.Alive, Start: proc.Unread}
	other := sight
	other.OtherClock = true
	for _, tc := range []struct {
		text  string
		sight proc.Sight
		want  proc.Match
	}{
		{"31702", sight, proc.Same},
		{" 31702\n", sight, proc.Same},
		{"31703", sight, proc.Different},
		{"Sun Aug 16 02:03:05 2026", sight, proc.Same},
		{"Sun Aug  16 02:03:06 2026 ", sight, proc.Same},
		{"Sun Aug 16 02:03:04 2026", sight, proc.Same},
		{"Sun Aug 16 02:03:03 2026", sight, proc.Unproven},
		{"Sun Aug 16 02:03:07 2026", sight, proc.Unproven},
		{"Sun Aug 16 04:03:05 2026", sight, proc.Unproven}, // a local time
		{"Mon Aug 16 02:03:05 2026", sight, proc.Unproven}, // it was a Sunday
		{"Sun Aug 16 02:03:05.4 2026", sight, proc.Unproven},
		{"2026-08-16T02:03:05Z", sight, proc.Unproven},
		{"Sun Aug 16 02:03:05 2026", other, proc.Unproven},
		{"Sun Aug 16 02:03:05 2026", hidden, proc.Unproven},
		{"", sight, proc.Unproven},
		{"0", sight, proc.Unproven},
		{"-31702", sight, proc.Unproven},
		{"31702.0", sight, proc.Unproven},
		{"started", sight, proc.Unproven},
	} {
		if got := compareStart(tc.text, tc.sight); got != tc.want {
			t.Errorf("%q: %v, want %v", tc.text, got, tc.want)
		}
	}
}

func TestOwnersProcStart(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	text := func(at time.Time) string { return at.UTC().Format("Mon Jan _2 15:04:05 2006") }
	began := proc.Look(p.pid).Began
	for name, tc := range map[string]struct {
		procStart string
		want      occupancy.Reason
	}{
		"ticks":                    {p.start, occupancy.LiveProcess},
		"macOS text":               {text(began), occupancy.LiveProcess},
		"macOS text, a minute off": {text(began.Add(-time.Minute)), occupancy.UnverifiableProcessStart},
		"absent":                   {"", occupancy.UnverifiableProcessStart},
		"garbled":                  {"x" + p.start, occupancy.UnverifiableProcessStart},
	} {
		t.Run(name, func(t *testing.T) {
			r.TB = t
			rec := r.record(p, threadA)
			rec.ProcStart = tc.procStart
			r.write(rec)
			r.wants(tc.want)
		})
	}
}

// TestClaimOfADeadPIDNeedsOurOwnDomain has the process of the record dead here, which means nothing where nobody knows
// what here is.
func TestClaimOfADeadPIDNeedsOurOwnDomain(t *testing.T) {
	c := claim{rec: Record{Domain: "linux:a:pid:[1]"}, sight: proc.Sight{Verdict: proc.Dead}}
	if reason, _ := c.judge(); reason != occupancy.ForeignPIDDomain {
		t.Errorf("our own domain is not known: %q", reason)
	}
	c.domain = c.rec.Domain
	if reason, _ := c.judge(); reason != "" {
		t.Errorf("our own domain: %q", reason)
	}
}
