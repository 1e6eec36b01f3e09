package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
)

// full is a peer of which every fact is known.
var full = events.Peer{
	Harness: "claude", Session: "25c49259-5cd0-4744-a158-5d764d50082a", PID: 6540, Start: "31702",
	Name: "proj-93", Cwd: "/home/u/proj", Home: "/home/u/.claude", Kind: "interactive", Entrypoint: "cli", Version: "2.1.332",
	Status: events.Waiting, VendorStatus: "waiting", WaitingFor: "permission prompt",
	StatusSince: 1796065268446, Started: 1796065217544,
	Addressable: true, Socket: "/tmp/cc-socks/6540.sock",
	Endpoint: "cc-peer:v1:6540:proj-93:/tmp/cc-socks/6540.sock", Tmux: "main:@1.%3", Job: "j1", Parent: "p1",
}

// bare is a peer of which nothing is known but that it is there.
var bare = events.Peer{Harness: "codex", Session: "t", PID: 7, Start: "0", Status: events.Unknown}

var meta = events.Meta{ID: "01995c1e-0000-7000-8000-000000000000", Time: 1796065268446, Host: "laptop", Epoch: "7f3a"}

// golden holds every type of event as it stands on the wire. Line breaks and indentation are not part of it.
var golden = map[string]struct {
	event events.Event
	wire  string
}{
	"PeerAppeared with every fact": {
		events.PeerAppeared{Meta: meta, Peer: full},
		`{"type":"PeerAppeared","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"claude","session":"25c49259-5cd0-4744-a158-5d764d50082a","pid":6540,"start":"31702",
		   "name":"proj-93","cwd":"/home/u/proj","home":"/home/u/.claude","kind":"interactive","entrypoint":"cli","version":"2.1.332",
		   "status":"waiting","vendor_status":"waiting","waiting_for":"permission prompt","status_since":"2026-11-30T19:01:08.446Z",
		   "started":"2026-11-30T19:00:17.544Z","addressable":true,"socket":"/tmp/cc-socks/6540.sock",
		   "endpoint":"cc-peer:v1:6540:proj-93:/tmp/cc-socks/6540.sock","tmux":"main:@1.%3","job":"j1","parent":"p1"}}`,
	},
	"PeerPresent without any fact": {
		events.PeerPresent{Meta: meta, Peer: bare},
		`{"type":"PeerPresent","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"codex","session":"t","pid":7,"start":"0","status":"unknown","addressable":false}}`,
	},
	"StatusChanged": {
		events.StatusChanged{Meta: meta, Peer: without(full, "job", "parent"), Was: events.Was{
			Fields: []string{"status", "status_since", "vendor_status", "waiting_for"},
			Old:    events.Peer{Status: events.Busy, VendorStatus: "busy", StatusSince: 1796065258001},
		}},
		`{"type":"StatusChanged","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"claude","session":"25c49259-5cd0-4744-a158-5d764d50082a","pid":6540,"start":"31702",
		   "name":"proj-93","cwd":"/home/u/proj","home":"/home/u/.claude","kind":"interactive","entrypoint":"cli","version":"2.1.332",
		   "status":"waiting","vendor_status":"waiting","waiting_for":"permission prompt","status_since":"2026-11-30T19:01:08.446Z",
		   "started":"2026-11-30T19:00:17.544Z","addressable":true,"socket":"/tmp/cc-socks/6540.sock",
		   "endpoint":"cc-peer:v1:6540:proj-93:/tmp/cc-socks/6540.sock","tmux":"main:@1.%3"},
		 "was":{"status":"busy","vendor_status":"busy","waiting_for":null,"status_since":"2026-11-30T19:00:58.001Z"}}`,
	},
	"PeerChanged, among others to what was absent, false and zero": {
		events.PeerChanged{Meta: meta, Peer: bare, Was: events.Was{
			Fields: []string{"addressable", "name", "socket", "started", "status_since"},
			Old:    events.Peer{Addressable: true, Name: "a", Started: 1796065217544},
		}},
		`{"type":"PeerChanged","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"codex","session":"t","pid":7,"start":"0","status":"unknown","addressable":false},
		 "was":{"name":"a","status_since":null,"started":"2026-11-30T19:00:17.544Z","addressable":true,"socket":null}}`,
	},
	"PeerChanged from not addressable": {
		events.PeerChanged{Meta: meta, Peer: bare, Was: events.Was{Fields: []string{"addressable"}}},
		`{"type":"PeerChanged","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"codex","session":"t","pid":7,"start":"0","status":"unknown","addressable":false},
		 "was":{"addressable":false}}`,
	},
	"PeerGone, seen": {
		events.PeerGone{Meta: meta, Peer: bare, Reason: events.Died},
		`{"type":"PeerGone","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"codex","session":"t","pid":7,"start":"0","status":"unknown","addressable":false},"reason":"died"}`,
	},
	"PeerGone, missed and parked": {
		events.PeerGone{
			Meta: meta, Peer: bare, Reason: events.Parked, Missed: true, NotBefore: 1796065258000,
			Job: "j2", Successor: events.Ref{Session: "s2", Instance: "8-99"},
		},
		`{"type":"PeerGone","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "peer":{"harness":"codex","session":"t","pid":7,"start":"0","status":"unknown","addressable":false},
		 "reason":"parked","missed":true,"not_before":"2026-11-30T19:00:58.000Z","successor":{"session":"s2","instance":"8-99"},"job":"j2"}`,
	},
	"WatchResumed": {
		events.WatchResumed{Meta: meta, BlindFrom: 1796065258000, BlindTo: 1796065268446, Why: events.Sleep},
		`{"type":"WatchResumed","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "blind_from":"2026-11-30T19:00:58.000Z","blind_to":"2026-11-30T19:01:08.446Z","why":"sleep"}`,
	},
	"WatchResumed for the first time": {
		events.WatchResumed{Meta: meta, BlindTo: 1796065268446, Why: events.Start},
		`{"type":"WatchResumed","id":"01995c1e-0000-7000-8000-000000000000","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		 "blind_to":"2026-11-30T19:01:08.446Z","why":"start"}`,
	},
}

// without is p without the facts of those keys.
func without(p events.Peer, keys ...string) events.Peer {
	for i, key := range peerKeys() {
		if strings.Contains(" "+strings.Join(keys, " ")+" ", " "+key+" ") {
			reflect.ValueOf(&p).Elem().Field(i).SetZero()
		}
	}
	return p
}

func compact(t testing.TB, wire string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(wire)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWireIsAsWritten(t *testing.T) {
	for i, key := range peerKeys() {
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("the peer with every fact has no %s", key)
		}
	}
	for name, tc := range golden {
		t.Run(name, func(t *testing.T) {
			want := compact(t, tc.wire)
			got, err := events.Encode(tc.event)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, string(got)); d != "" {
				t.Errorf("encoded (-want +got):\n%s", d)
			}
			if kind := events.TypeOf(tc.event); !strings.HasPrefix(want, `{"type":"`+kind+`",`) {
				t.Errorf("of the type %s", kind)
			}
			asValue, err := json.Marshal(tc.event)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, string(asValue)); d != "" {
				t.Errorf("marshaled (-want +got):\n%s", d)
			}
			back, err := events.Decode([]byte(tc.wire))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.event, back); d != "" {
				t.Errorf("decoded (-want +got):\n%s", d)
			}
		})
	}
}

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyEvent.Draw(t, "event")
		data, err := events.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := events.Decode(data)
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("decoded (-want +got):\n%s", d)
		}
	})
}

func TestAbsentFactsAreAbsentKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent.Draw(t, "event")
		data, err := events.Encode(events.Stamp(e, meta))
		if err != nil {
			t.Fatal(err)
		}
		var object struct {
			Peer map[string]json.RawMessage `json:"peer"`
			Was  map[string]json.RawMessage `json:"was"`
		}
		var top map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(data, &object), json.Unmarshal(data, &top)); err != nil {
			t.Fatal(err)
		}
		delete(top, "was") // the only place in which null occurs
		for _, keys := range []map[string]json.RawMessage{top, object.Peer} {
			for key, value := range keys {
				if v := string(value); v == "null" || v == `""` || v == "0" || v == "{}" {
					t.Fatalf("%s is %s in %s", key, v, data)
				}
			}
		}
		for key, value := range object.Was {
			if v := string(value); v == `""` || v == "0" {
				t.Fatalf("%s was %s in %s", key, v, data)
			}
		}
	})
}

func TestStampChangesTheHeadOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, m := anyEvent.Draw(t, "event"), metas.Draw(t, "meta")
		stamped := events.Stamp(e, m)
		if d := cmp.Diff(m, stamped.Head()); d != "" {
			t.Fatalf("head (-want +got):\n%s", d)
		}
		if d := cmp.Diff(e, events.Stamp(stamped, e.Head())); d != "" {
			t.Fatalf("stamped back (-want +got):\n%s", d)
		}
	})
}

func TestDecodeOfWhatIsNotAnEvent(t *testing.T) {
	const peer = `"peer":{"harness":"claude","session":"s","pid":7,"start":"1","status":"idle","addressable":false}`
	for name, tc := range map[string]struct {
		wire    string
		unknown bool
	}{
		"nothing":                         {wire: ``},
		"no object":                       {wire: `[]`},
		"null":                            {wire: `null`},
		"cut off":                         {wire: `{"type":"PeerAppeared","host":"h",` + peer},
		"two objects":                     {wire: `{"type":"WatchResumed","host":"h"}{}`},
		"no type":                         {wire: `{"host":"h",` + peer + `}`},
		"no host":                         {wire: `{"type":"PeerAppeared",` + peer + `}`},
		"no peer":                         {wire: `{"type":"PeerAppeared","host":"h"}`},
		"peer without a session":          {wire: `{"type":"PeerGone","host":"h","peer":{"harness":"claude","pid":7,"start":"1"}}`},
		"peer without a pid":              {wire: `{"type":"PeerGone","host":"h","peer":{"harness":"claude","session":"s","start":"1"}}`},
		"peer without a start":            {wire: `{"type":"PeerGone","host":"h","peer":{"harness":"claude","session":"s","pid":7}}`},
		"peer without a harness":          {wire: `{"type":"PeerGone","host":"h","peer":{"session":"s","pid":7,"start":"1"}}`},
		"pid of another sort":             {wire: `{"type":"PeerGone","host":"h","peer":{"harness":"claude","session":"s","pid":"7","start":"1"}}`},
		"pid below one":                   {wire: `{"type":"PeerGone","host":"h","peer":{"harness":"claude","session":"s","pid":-7,"start":"1"}}`},
		"time that is none":               {wire: `{"type":"PeerGone","host":"h","time":"today",` + peer + `}`},
		"year before 0":                   {wire: `{"type":"PeerGone","host":"h","time":"0000-01-01T00:00:00+01:00",` + peer + `}`},
		"year after 9999":                 {wire: `{"type":"PeerGone","host":"h","time":"9999-12-31T23:59:59-01:00",` + peer + `}`},
		"was of another sort":             {wire: `{"type":"StatusChanged","host":"h","was":7,` + peer + `}`},
		"unknown type":                    {wire: `{"type":"PeerDreamt","host":"h",` + peer + `}`, unknown: true},
		"unknown type without a peer":     {wire: `{"type":"PeerDreamt","host":"h"}`, unknown: true},
		"unknown type without a host":     {wire: `{"type":"PeerDreamt"}`, unknown: true},
		"unknown type, keys of new sorts": {wire: `{"time":7,"was":[],"peer":"x","reason":{},"type":"PeerDreamt","host":"h"}`, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := events.Decode([]byte(tc.wire))
			if err == nil {
				t.Fatalf("decoded to %#v", e)
			}
			if errors.Is(err, events.ErrUnknownType) != tc.unknown {
				t.Errorf("answered %q; it is of an unknown type: %t", err, tc.unknown)
			}
		})
	}
}

// A later version may say more than this one knows of.
func TestDecodeIgnoresKeysItDoesNotKnow(t *testing.T) {
	want := events.StatusChanged{
		Meta: events.Meta{Host: "h"},
		Peer: events.Peer{Harness: "claude", Session: "s", PID: 7, Start: "1", Status: events.Idle},
		Was:  events.Was{Fields: []string{"NAME", "mood", "status"}, Old: events.Peer{Status: events.Busy}},
	}
	got, err := events.Decode([]byte(`{"type":"StatusChanged","host":"h","level":3,
		"peer":{"harness":"claude","session":"s","pid":7,"start":"1","status":"idle","mood":"good"},
		"was":{"mood":"bad","status":"busy","NAME":"n"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("decoded (-want +got):\n%s", d)
	}
}
