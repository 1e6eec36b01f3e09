package events_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"peerbus/events"
)

var endpoints = rapid.Custom(func(t *rapid.T) events.Endpoint {
	return events.Endpoint{
		PID: rapid.IntRange(1, 1<<31-1).Draw(t, "pid"), Name: texts.Draw(t, "name"), Socket: "/" + texts.Draw(t, "socket"),
	}
})

// refusedEndpoints are foreign, truncated, or not as they are written here.
var refusedEndpoints = []string{
	"", "cc-peer", "cc-peer:v1", "cc-peer:v1:", "cc-peer:v1:7", "cc-peer:v1:7:", "cc-peer:v1:7:n", "cc-peer:v1:7:n:",
	"cc-peer:v2:7:n:/s", "CC-PEER:v1:7:n:/s", " cc-peer:v1:7:n:/s", "peer:v1:7:n:/s", "uds:/tmp/s", "/tmp/s", "7", "proj-93",
	"cc-peer:v1::n:/s", "cc-peer:v1:0:n:/s", "cc-peer:v1:-7:n:/s", "cc-peer:v1:+7:n:/s", "cc-peer:v1:07:n:/s",
	"cc-peer:v1:7.0:n:/s", "cc-peer:v1: 7:n:/s", "cc-peer:v1:0x7:n:/s", "cc-peer:v1:2147483648:n:/s",
	"cc-peer:v1:99999999999999999999:n:/s", "cc-peer:v1:7:n:s", "cc-peer:v1:7:n:./s", "cc-peer:v1:7:n:/s:", "cc-peer:v1:7:a:b:/s",
	"cc-peer:v1:7:n%:/s", "cc-peer:v1:7:n%2:/s", "cc-peer:v1:7:n%3a:/s", "cc-peer:v1:7:n%41:/s", "cc-peer:v1:7:n:/%2Fs",
	"cc-peer:v1:7:n:%2Fs",
}

func TestParseEndpointRefusesForeignAndTruncated(t *testing.T) {
	for _, s := range refusedEndpoints {
		if e, err := events.ParseEndpoint(s); !errors.Is(err, events.ErrEndpoint) {
			t.Errorf("%q is read as %#v (%v)", s, e, err)
		}
	}
}

func TestEndpointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := endpoints.Draw(t, "endpoint")
		got, err := events.ParseEndpoint(want.String())
		if err != nil || got != want {
			t.Fatalf("%q is read as %#v (%v), want %#v", want, got, err, want)
		}
	})
}

// An endpoint that is cut before its socket begins is refused; cut later it names another socket, never the same.
func TestTruncatedEndpointIsNeverTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := endpoints.Draw(t, "endpoint")
		whole := want.String()
		cut := rapid.IntRange(0, len(whole)-1).Draw(t, "cut")
		got, err := events.ParseEndpoint(whole[:cut])
		if err == nil && (cut <= strings.LastIndex(whole, ":/")+1 || got == want) {
			t.Fatalf("%q, cut off from %q, is read as %#v", whole[:cut], whole, got)
		}
	})
}
