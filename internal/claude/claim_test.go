package claude

import (
	"errors"
	"io/fs"
	"runtime"
	"strconv"
	"testing"
	"time"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// TestClaims has what no child process can be made to show.
func TestClaims(t *testing.T) {
	began := time.Date(2026, 8, 16, 2, 3, 5, 400e6, time.UTC)
	boot := began.Add(-time.Hour)
	alive := proc.Sight{Verdict: proc.Alive, Start: "360000", Began: began}
	good := claim{
		rec: Record{PID: 6540, Session: threadA, ProcStart: "360000"}, written: began.Add(time.Minute), sight: alive, boot: boot,
	}
	if runtime.GOOS == "darwin" {
		good.sight.Start, good.rec.ProcStart = strconv.FormatInt(began.Unix(), 10), "Sun Aug 16 02:03:05 2026"
	}
	for name, tc := range map[string]struct {
		but  func(*claim)
		want occupancy.Reason
	}{
		"as it should be": {func(*claim) {}, occupancy.LiveProcess},
		"the process cannot be asked": {
			func(c *claim) { c.sight = proc.Sight{Start: proc.Unread, Err: errors.New("too many open files")} }, occupancy.ProbeFailed,
		},
		"the process cannot be asked, nobody knows why": {func(c *claim) { c.sight = proc.Sight{} }, occupancy.ProbeFailed},
		"a verdict of tomorrow":                         {func(c *claim) { c.sight.Verdict = 17 }, occupancy.ProbeFailed},
		"dead":                                          {func(c *claim) { c.sight = proc.Sight{Verdict: proc.Dead} }, ""},
		"the start is hidden": {
			func(c *claim) { c.sight.Start, c.sight.Began, c.sight.Err = proc.Unread, time.Time{}, fs.ErrPermission },
			occupancy.UnverifiableProcessStart,
		},
		"no procStart":        {func(c *claim) { c.rec.ProcStart = "" }, occupancy.UnverifiableProcessStart},
		"a garbled procStart": {func(c *claim) { c.rec.ProcStart = "36OOOO" }, occupancy.UnverifiableProcessStart},
		"another start":       {func(c *claim) { c.rec.ProcStart = otherStart() }, occupancy.UnverifiableProcessStart},
		"another start, from before the boot": {
			func(c *claim) { c.rec.ProcStart, c.written = otherStart(), boot.Add(-time.Hour) }, "",
		},
		"another start, about at the boot": {
			func(c *claim) { c.rec.ProcStart, c.written = otherStart(), boot.Add(-time.Second) }, occupancy.UnverifiableProcessStart,
		},
		"another start, and the boot is not known": {
			func(c *claim) { c.rec.ProcStart, c.written, c.boot = otherStart(), boot.Add(-time.Hour), time.Time{} },
			occupancy.UnverifiableProcessStart,
		},
		"the same start, from before the boot": {func(c *claim) { c.written = boot.Add(-time.Hour) }, occupancy.LiveProcess},
		"no start, from before the boot":       {func(c *claim) { c.rec.ProcStart, c.written = "", boot.Add(-time.Hour) }, occupancy.UnverifiableProcessStart},
		"no socket":                            {func(c *claim) { c.socket = errNoSocket }, occupancy.UnverifiableLivenessSocket},
		"no socket, and another start":         {func(c *claim) { c.socket, c.rec.ProcStart = errNoSocket, otherStart() }, occupancy.UnverifiableProcessStart},
		"another system's pid":                 {func(c *claim) { c.domain, c.rec.Domain = "linux:a:pid:[1]", "linux:a:pid:[2]" }, occupancy.ForeignPIDDomain},
		"another machine's pid, dead here": {func(c *claim) {
			c.domain, c.rec.Domain, c.sight = "linux:a:pid:[1]", "linux:b:pid:[1]", proc.Sight{Verdict: proc.Dead}
		}, occupancy.ForeignPIDDomain},
		"a domain, and our own is not known": {func(c *claim) { c.rec.Domain = runtime.GOOS + ":a:pid:[2]" }, occupancy.LiveProcess},
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			tc.but(&c)
			reason, why := c.judge()
			if reason != tc.want || (reason != "") == (why == "") {
				t.Errorf("reason %q, because %q; want %q", reason, why, tc.want)
			}
		})
	}
}

func otherStart() string {
	if runtime.GOOS == "darwin" {
		return "Sun Aug 16 02:03:09 2026"
	}
	return "360001"
}
