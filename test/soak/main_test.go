package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"peerbus/events"
	"peerbus/test/audit"
	"peerbus/test/soak/world"
)

func TestMain(m *testing.M) {
	world.StandIn()
	os.Exit(m.Run())
}

// told is a report and what it printed.
func told() (*report, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return &report{name: "test", out: out}, out
}

// expect holds the failures of a report against what each must say.
func expect(t *testing.T, r *report, out *bytes.Buffer, want ...string) {
	t.Helper()
	if r.failures != len(want) {
		t.Errorf("%d failures, want %d:\n%s", r.failures, len(want), out)
	}
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("no failure says %q:\n%s", w, out)
		}
	}
}

func TestScale(t *testing.T) {
	for s, want := range map[string]float64{"": 1, "0.2": 0.2, "3": 3} {
		if got, err := scaleOf(s); got != want || err != nil {
			t.Errorf("%q is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"0", "-1", "x", "NaN", "Inf", "1e9"} {
		if got, err := scaleOf(s); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
	b := &bench{options: options{scale: 0.2}}
	if n := b.count(300); n != 60 {
		t.Errorf("%d, want 60", n)
	}
	if n := b.count(1); n != 1 {
		t.Errorf("%d, want 1", n)
	}
	if d := b.duration(time.Minute); d != 12*time.Second {
		t.Errorf("%v, want 12 s", d)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-run", "calm"}, {"-seed", "x"}, {"-bogus"}} {
		var out bytes.Buffer
		if code := soak(t.Context(), args, &out, &out); code != 2 || out.Len() == 0 {
			t.Errorf("%v is exit %d: %s", args, code, &out)
		}
	}
}

func TestReport(t *testing.T) {
	r, out := told()
	r.factf("%s sessions", thousands(1234567))
	for range maxAlike + 5 {
		r.failf("it is %s", "wrong\nagain")
	}
	r.failf("another")
	if r.summary(time.Second) {
		t.Error("it passed")
	}
	text := out.String()
	if n := strings.Count(text, "FAIL"); n != maxAlike+1 {
		t.Errorf("%d failures printed, want %d", n, maxAlike+1)
	}
	if want := "test: 1,234,567 sessions, 1s: 16 failures\n"; !strings.HasSuffix(text, want) {
		t.Errorf("it ends with %q, want %q", text[max(0, len(text)-60):], want)
	}
	r, out = told()
	if !r.summary(0) || !strings.HasSuffix(out.String(), ": ok\n") {
		t.Errorf("without a failure: %s", out)
	}
}

func TestQuantiles(t *testing.T) {
	var d durations
	if d.quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for i := 100; i > 0; i-- {
		d.add(time.Duration(i))
	}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := d.quantile(p); got != want {
			t.Errorf("quantile %v is %d, want %d", p, got, want)
		}
	}
}

func TestHistoryIsPossible(t *testing.T) {
	var log []events.Last
	view := make(events.View)
	ended := make(map[events.ID]bool)
	for i, e := range history("laptop", "/home/u/.claude", 250, time.UnixMilli(1796065268446)) {
		l := events.Last{Seq: uint64(i + 1), Event: events.Stamp(e, events.Meta{ID: string(rune(0x4e00 + i)), Time: e.Head().Time, Host: "laptop"})}
		log = append(log, l)
		view.Apply(l.Seq, l.Event)
		if g, ok := e.(events.PeerGone); ok {
			ended[g.Peer.ID("")] = true
		}
	}
	for _, p := range audit.Audit(log) {
		t.Error(p)
	}
	if len(view) != 0 || len(ended) != 250 {
		t.Errorf("%d peers are left, %d have ended", len(view), len(ended))
	}
}

// live is a world in which one session lives, and its peer.
func live(t *testing.T) (*world.World, events.Peer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(world.Options{Home: t.TempDir(), Exe: exe, Size: 1, Pace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	w.Filled()
	for _, p := range w.Here() {
		return w, p
	}
	t.Fatal("nobody is there")
	return nil, events.Peer{}
}
