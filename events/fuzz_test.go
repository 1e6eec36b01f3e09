package events_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
)

// FuzzDecode: what decodes has a legal subject, and encodes to what decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, tc := range golden {
		f.Add([]byte(compact(f, tc.wire)))
	}
	f.Add([]byte(`{"type":"PeerDreamt","host":"h"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := events.Decode(data)
		if err != nil {
			return
		}
		checkSubject(t, e)
		again, err := events.Encode(e)
		if err != nil {
			t.Fatalf("%v: %#v", err, e)
		}
		back, err := events.Decode(again)
		if err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Fatalf("decoded again (-first +second):\n%s", d)
		}
		if third, err := events.Encode(back); err != nil || !bytes.Equal(again, third) {
			t.Fatalf("encoded %s, then %s (%v)", again, third, err)
		}
	})
}

// FuzzParseEndpoint: what parses is written the same again.
func FuzzParseEndpoint(f *testing.F) {
	for _, s := range append([]string{"cc-peer:v1:6540:proj-93:/tmp/cc-socks/6540.sock"}, refusedEndpoints...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := events.ParseEndpoint(s)
		if err != nil {
			if e != (events.Endpoint{}) {
				t.Fatalf("%v, and %#v beside it", err, e)
			}
			return
		}
		if e.PID <= 0 || e.String() != s {
			t.Fatalf("%q is read as %#v, which is %q", s, e, e)
		}
	})
}

// FuzzToken: every name has a legal token, and one that was not cut can be turned back.
func FuzzToken(f *testing.F) {
	for _, name := range hostile {
		f.Add(name)
	}
	f.Add("")
	f.Add("bad\xff\xfeutf-8")
	f.Fuzz(func(t *testing.T, name string) { checkToken(t, name) })
}
