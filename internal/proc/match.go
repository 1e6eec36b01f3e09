package proc

import (
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Match is whether a start that was written down is the one that was seen.
type Match int

// The answers of [Compare]. Unproven is everything that is neither of the others.
const (
	Unproven Match = iota
	Same
	Different
)

// String is the match in lower case.
func (m Match) String() string {
	switch m {
	case Same:
		return "same"
	case Different:
		return "different"
	}
	return "unproven"
}

// lstart is the form of `ps -o lstart=` in the C locale, with single spaces.
const lstart = "Mon Jan 2 15:04:05 2006"

// Compare tells whether procStart, as a harness wrote it, is the start in s. On Linux it is a number of clock ticks,
// on macOS the text of `ps -o lstart=` in UTC; both are compared as integers, since texts differ by spaces and time
// zones. What is absent, garbled or in the spelling of another system is Unproven, and so is any procStart where s
// has no start or counts by another clock.
func Compare(procStart string, s Sight) Match {
	return compare(runtime.GOOS, procStart, s)
}

func compare(goos, procStart string, s Sight) Match {
	var wrote uint64
	var ok bool
	switch goos {
	case "linux":
		wrote, ok = parseStart(strings.TrimSpace(procStart))
	case "darwin":
		wrote, ok = parseLstart(procStart)
	}
	seen, known := parseStart(s.Start)
	switch {
	case s.Verdict != Alive || !ok || !known:
		return Unproven
	case wrote == seen:
		return Same
	case s.OtherClock:
		return Unproven
	}
	return Different
}

// judge is s as an answer about id: Replaced where the starts are two numbers that differ, by one clock.
func judge(id Identity, s Sight) Sight {
	want, ok := parseStart(id.Start)
	seen, known := parseStart(s.Start)
	if s.Verdict == Alive && ok && known && want != seen && !s.OtherClock {
		s.Verdict = Replaced
	}
	return s
}

// parseStart reads an [Identity.Start]; [Unread] and what is no decimal number are not ok.
func parseStart(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && n != 0
}

// parseLstart is the text of `ps -o lstart=` as seconds since 1970. It must be exactly what ps writes but for the
// spaces: time.Parse alone would let a wrong weekday and fractions of a second pass.
func parseLstart(s string) (uint64, bool) {
	s = strings.Join(strings.Fields(s), " ")
	t, err := time.ParseInLocation(lstart, s, time.UTC)
	if err != nil || t.Format(lstart) != s || t.Unix() <= 0 {
		return 0, false
	}
	return uint64(t.Unix()), true
}
