package proc

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	const text = "Thu Jul  2 04:26:55 2026" // 1782966415
	ticks := Sight{Verdict: Alive, Start: "31702"}
	seconds := Sight{Verdict: Alive, Start: "1782966415"}
	for name, tc := range map[string]struct {
		goos, wrote string
		seen        Sight
		want        Match
	}{
		"linux, the same":                    {"linux", "31702", ticks, Same},
		"linux, the same number":             {"linux", " 0031702\n", ticks, Same},
		"linux, another":                     {"linux", "31703", ticks, Different},
		"linux, another clock":               {"linux", "31703", Sight{Verdict: Alive, Start: "31702", OtherClock: true}, Unproven},
		"linux, the same by another clock":   {"linux", "31702", Sight{Verdict: Alive, Start: "31702", OtherClock: true}, Same},
		"linux, absent":                      {"linux", "", ticks, Unproven},
		"linux, unread by the harness":       {"linux", "0", ticks, Unproven},
		"linux, unread by us":                {"linux", "31702", Sight{Verdict: Alive, Start: Unread}, Unproven},
		"linux, nothing seen":                {"linux", "31702", Sight{}, Unproven},
		"linux, nobody there":                {"linux", "31702", Sight{Verdict: Dead, Start: Unread}, Unproven},
		"linux, could not ask":               {"linux", "31702", Sight{Verdict: Unknown, Start: "31703"}, Unproven},
		"linux, macOS text":                  {"linux", text, ticks, Unproven},
		"linux, negative":                    {"linux", "-31702", ticks, Unproven},
		"linux, signed":                      {"linux", "+31702", ticks, Unproven},
		"linux, fraction":                    {"linux", "31702.0", ticks, Unproven},
		"linux, too large":                   {"linux", "18446744073709551616", ticks, Unproven},
		"macOS, the same":                    {"darwin", text, seconds, Same},
		"macOS, one space":                   {"darwin", "Thu Jul 2 04:26:55 2026", seconds, Same},
		"macOS, spaces around":               {"darwin", "  Thu Jul  2 04:26:55 2026 \n", seconds, Same},
		"macOS, a second later":              {"darwin", "Thu Jul  2 04:26:56 2026", seconds, Different},
		"macOS, an hour later, as local":     {"darwin", "Thu Jul  2 05:26:55 2026", seconds, Different},
		"macOS, wrong weekday":               {"darwin", "Fri Jul  2 04:26:55 2026", seconds, Unproven},
		"macOS, no such day":                 {"darwin", "Thu Feb 30 04:26:55 2026", seconds, Unproven},
		"macOS, fraction":                    {"darwin", "Thu Jul  2 04:26:55.5 2026", seconds, Unproven},
		"macOS, another language":            {"darwin", "jeu.  2 jul. 04:26:55 2026", seconds, Unproven},
		"macOS, before 1970":                 {"darwin", "Thu Jul  2 04:26:55 1953", seconds, Unproven},
		"macOS, Linux ticks":                 {"darwin", "31702", seconds, Unproven},
		"macOS, the seconds themselves":      {"darwin", "1782966415", seconds, Unproven},
		"windows, whatever anybody wrote":    {"windows", "31702", ticks, Unproven},
		"windows, and in the other spelling": {"windows", text, seconds, Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compare(tc.goos, tc.wrote, tc.seen); got != tc.want {
				t.Errorf("compare(%q, %+v) = %v, want %v", tc.wrote, tc.seen, got, tc.want)
			}
		})
	}
}

// A start of 0 or garbage proves nothing on either side, and another clock never proves a difference.
func TestJudge(t *testing.T) {
	alive := func(start string) Sight { return Sight{Verdict: Alive, Start: start} }
	for name, tc := range map[string]struct {
		start string
		seen  Sight
		want  Verdict
	}{
		"the same":             {"5", alive("5"), Alive},
		"another":              {"5", alive("6"), Replaced},
		"not known":            {Unread, alive("6"), Alive},
		"empty":                {"", alive("6"), Alive},
		"garbage":              {"x", alive("6"), Alive},
		"not seen":             {"5", alive(Unread), Alive},
		"another clock":        {"5", Sight{Verdict: Alive, Start: "6", OtherClock: true}, Alive},
		"dead stays dead":      {"5", Sight{Verdict: Dead, Start: Unread}, Dead},
		"unknown stays so too": {"5", Sight{Verdict: Unknown, Start: "6"}, Unknown},
	} {
		if got := judge(Identity{PID: 7, Start: tc.start}, tc.seen).Verdict; got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// What is written down from what was seen is the same, and different from every other instant.
func TestStartsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(1, 253402300799).Draw(t, "a") // to the end of the year 9999
		b := rapid.Int64Range(1, 253402300799).Draw(t, "b")
		want := Different
		if a == b {
			want = Same
		}
		seen := Sight{Verdict: Alive, Start: strconv.FormatInt(a, 10)}
		text := time.Unix(b, 0).UTC().Format("Mon Jan _2 15:04:05 2006")
		if got := compare("darwin", text, seen); got != want {
			t.Fatalf("macOS: %q against %+v is %v, want %v", text, seen, got, want)
		}
		ticks := strconv.FormatInt(b, 10)
		if got := compare("linux", ticks, seen); got != want {
			t.Fatalf("linux: %q against %+v is %v, want %v", ticks, seen, got, want)
		}
	})
}

func FuzzLstart(f *testing.F) {
	for _, s := range []string{"", "31702", "Thu Jul  2 04:26:55 2026", "Sun Aug 16 02:03:05 2026", "Thu Jul 2 04:26:55.5 2026", "thu jul 2 04:26:55 2026"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sec, ok := parseLstart(s)
		if !ok {
			return
		}
		if sec == 0 || sec > math.MaxInt64 {
			t.Fatalf("%q is %d seconds", s, sec)
		}
		// What is accepted is what ps writes of that second, but for its spaces.
		want := strings.Fields(time.Unix(int64(sec), 0).UTC().Format(time.ANSIC))
		if got := strings.Fields(s); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%q was taken for %q", got, want)
		}
	})
}
