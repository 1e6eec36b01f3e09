package bus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/bus"
)

func TestResolve(t *testing.T) {
	const (
		a = "25c49259-5cd0-4744-a158-5d764d50082a"
		b = "25c49259-0000-4744-a158-5d764d50082a"
		c = "7f3a0000-5cd0-4744-a158-5d764d50082a"
	)
	one := events.Peer{Harness: "claude", Session: a, PID: 1, Start: "9", Name: "proj", Endpoint: "cc-peer:v1:1:proj:/tmp/1.sock"}
	two := events.Peer{Harness: "claude", Session: b, PID: 2, Start: "9", Name: "other"}
	three := events.Peer{Harness: "codex", Session: c, PID: 3, Start: "9", Name: "same"}
	twin := events.Peer{Harness: "codex", Session: c, PID: 4, Start: "9", Name: "same"}
	rogue := events.Peer{Harness: "claude", Session: "ffffffff", PID: 5, Start: "9", Name: a}
	tricky := events.Peer{Harness: "claude", Session: "eeeeeeee", PID: 6, Start: "9", Name: "25c49259-5"}
	view := make(events.View)
	for i, p := range []events.Peer{one, two, three, twin, rogue, tricky} {
		view.Apply(uint64(i+1), events.PeerAppeared{Meta: events.Meta{Host: host}, Peer: p})
	}
	for name, tc := range map[string]struct {
		ref  string
		want []events.Peer // none, one, or the candidates
	}{
		"session":                          {a, []events.Peer{one}}, // though another is named so
		"session of two processes":         {c, []events.Peer{three, twin}},
		"prefix of 9":                      {"25c49259-0", []events.Peer{two}},
		"prefix of several":                {"25c49259", []events.Peer{two, one}},
		"prefix of 8 of two processes":     {"7f3a0000", []events.Peer{three, twin}},
		"prefix of 7":                      {"7f3a000", nil},
		"name":                             {"other", []events.Peer{two}},
		"name of several":                  {"same", []events.Peer{three, twin}},
		"name that is the prefix of other": {"25c49259-5", []events.Peer{one, tricky}},
		"part of a name":                   {"proj-", nil},
		"endpoint":                         {"cc-peer:v1:1:proj:/tmp/1.sock", []events.Peer{one}},
		"endpoint of another socket":       {"cc-peer:v1:1:proj:/tmp/2.sock", nil},
		"cut off endpoint":                 {"cc-peer:v1:1:proj:/tmp/1.soc", nil},
		"nothing":                          {"", nil},
		"prefix longer than the session":   {a + "0", nil},
		"upper case":                       {strings.ToUpper(a), nil},
	} {
		t.Run(name, func(t *testing.T) {
			last, err := bus.Resolve(view, tc.ref)
			var got []events.Peer
			if ambiguous, ok := errors.AsType[*bus.AmbiguousError](err); ok {
				got = ambiguous.Candidates
				for _, p := range got {
					if !strings.Contains(err.Error(), p.Session) {
						t.Errorf("%q does not name %s", err, p.Session)
					}
				}
			} else if err == nil {
				got = []events.Peer{last.Peer()}
			} else if !errors.Is(err, bus.ErrNoPeer) {
				t.Errorf("error %v", err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("resolved (-want +got):\n%s", d)
			}
		})
	}
}

// What a peer calls itself reaches a terminal through the error's text.
func TestAmbiguousErrorIsPrintable(t *testing.T) {
	view := make(events.View)
	for n := range 2 {
		p := peer(n)
		p.Session, p.Name = "s\x1b[2J", "n\x1b[2J\n"
		view.Apply(uint64(n+1), events.PeerAppeared{Peer: p})
	}
	_, err := bus.Resolve(view, "n\x1b[2J\n")
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("error %q", err)
	}
}
