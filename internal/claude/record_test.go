package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/proc"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "records", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeTakesEveryFieldOfARealRecord(t *testing.T) {
	const domain = "linux:0123456789abcdef0123456789abcdef:pid:[4026531836]"
	for name, want := range map[string]Record{
		"waiting.json": {
			PID: 29945, Session: "47a8b370-4338-4124-889b-8987302170d0", ProcStart: "50687", Domain: domain,
			Version: "2.1.332", Kind: "interactive", Entrypoint: "cli", Name: "my session", Cwd: "/home/u/proj",
			Socket: "/tmp/cc-socks/29945.sock", Status: "waiting", WaitingFor: "permission prompt",
			StatusSince: 1796065404542, Updated: 1796065404542, Started: 1796065395089,
		},
		"parked.json": {
			PID: 32336, Session: "c1f920bb-e117-40fe-bf37-42aee8e2f931", ProcStart: "294399", Domain: domain,
			Version: "2.1.332", Kind: "interactive", Entrypoint: "cli", Name: "target", Cwd: "/home/u/proj",
			Socket: "/tmp/cc-socks/32336.sock", Status: "busy",
			StatusSince: 1796067858814, Updated: 1796067869781, Started: 1796067832857, Parked: "e6af29a1",
		},
		"spare.json": {
			PID: 32489, Session: "92c572ad-e196-4880-a969-07efb811e611", ProcStart: "298228", Domain: domain,
			Version: "2.1.332", Kind: "bg", Entrypoint: "cli", Name: "92c572ad", Cwd: "/home/u/proj",
			Socket: "/tmp/cc-socks/32489.sock", Status: "idle",
			StatusSince: 1796067870655, Updated: 1796067870655, Started: 1796067870843, Job: "92c572ad", Spare: true,
		},
		"2.1.224.json": {
			PID: 10929, Session: "ec74783d-b376-4aae-8453-4198675deae1", ProcStart: "83887",
			Version: "2.1.224", Kind: "interactive", Entrypoint: "cli", Name: "proj-ad", Cwd: "/home/u/proj",
			Status: "idle", StatusSince: 1796065729281, Updated: 1796065729281, Started: 1796065728836,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(sample(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("record (-want +got):\n%s", d)
			}
		})
	}
}

// ofS makes a record one of the session "s".
const ofS = `"sessionId":"s"`

var (
	deepJSON    = strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	longText    = strings.Repeat("x", 60<<10)
	plainRecord = Record{PID: 12, Session: "s"}
)

// weird are records as nobody should write them, and what is taken from them.
var weird = map[string]struct {
	in   string
	want Record
	err  error
}{
	"whole":              {in: `{"pid":12,` + ofS + `}`, want: plainRecord},
	"pid 0":              {in: `{"pid":0,` + ofS + `}`, err: ErrNoPID},
	"pid 1":              {in: `{"pid":1,` + ofS + `}`, err: ErrNoPID},
	"pid -1":             {in: `{"pid":-1,` + ofS + `}`, err: ErrNoPID},
	"pid 2^32-1":         {in: `{"pid":4294967295,` + ofS + `}`, err: ErrNoPID},
	"pid 2^32+12":        {in: `{"pid":4294967308,` + ofS + `}`, err: ErrNoPID},
	"pid over 64 bits":   {in: `{"pid":18446744073709551628,` + ofS + `}`, err: ErrNoPID},
	"pid 12.0":           {in: `{"pid":12.0,` + ofS + `}`, err: ErrNoPID},
	"pid 1.2e1":          {in: `{"pid":1.2e1,` + ofS + `}`, err: ErrNoPID},
	"pid a string":       {in: `{"pid":"12",` + ofS + `}`, err: ErrNoPID},
	"pid null":           {in: `{"pid":null,` + ofS + `}`, err: ErrNoPID},
	"pid true":           {in: `{"pid":true,` + ofS + `}`, err: ErrNoPID},
	"pid absent":         {in: `{` + ofS + `}`, err: ErrNoPID},
	"pid twice":          {in: `{"pid":12,"pid":12,` + ofS + `}`, err: ErrNoPID},
	"PID beside pid":     {in: `{"pid":12,"PID":13,"Pid":14,` + ofS + `}`, want: plainRecord},
	"PID alone":          {in: `{"PID":12,` + ofS + `}`, err: ErrNoPID},
	"session absent":     {in: `{"pid":12}`, err: ErrNoSession},
	"session empty":      {in: `{"pid":12,"sessionId":""}`, err: ErrNoSession},
	"session null":       {in: `{"pid":12,"sessionId":null}`, err: ErrNoSession},
	"session a number":   {in: `{"pid":12,"sessionId":5}`, err: ErrNoSession},
	"session twice":      {in: `{"pid":12,"sessionId":"s","sessionId":"s"}`, err: ErrNoSession},
	"session bad UTF-8":  {in: "{\"pid\":12,\"sessionId\":\"s\xff\"}", err: ErrNoSession},
	"session too long":   {in: `{"pid":12,"sessionId":"` + strings.Repeat("s", 257) + `"}`, err: ErrNoSession},
	"U+017F in a key":    {in: `{"pid":12,"ſtatus":"busy",` + ofS + `}`, want: plainRecord},
	"unknown keys":       {in: `{"pid":12,"x":{"pid":13,"y":[{}]},` + ofS + `}`, want: plainRecord},
	"unknown key twice":  {in: `{"pid":12,"x":1,"x":2,` + ofS + `}`, want: plainRecord},
	"nulls":              {in: `{"pid":12,"name":null,"status":null,"spare":null,"startedAt":null,` + ofS + `}`, want: plainRecord},
	"BOM":                {in: "\xef\xbb\xbf" + `{"pid":12,` + ofS + `}`, want: plainRecord},
	"two BOMs":           {in: "\xef\xbb\xbf\xef\xbb\xbf" + `{"pid":12,` + ofS + `}`, err: ErrTorn},
	"blanks around":      {in: " \n{\"pid\":12," + ofS + "}\r\n\t", want: plainRecord},
	"empty":              {in: "", err: ErrTorn},
	"blank":              {in: "  \n", err: ErrTorn},
	"cut off":            {in: `{"pid":12,"sess`, err: ErrTorn},
	"cut off at the end": {in: `{"pid":12,` + ofS, err: ErrTorn},
	"trailing data":      {in: `{"pid":12,` + ofS + `}}`, err: ErrTorn},
	"two objects":        {in: `{"pid":12,` + ofS + `}{}`, err: ErrTorn},
	"trailing comma":     {in: `{"pid":12,` + ofS + `,}`, err: ErrTorn},
	"null":               {in: `null`, err: ErrTorn},
	"an array":           {in: `[{"pid":12,` + ofS + `}]`, err: ErrTorn},
	"raw NUL":            {in: "{\"pid\":12,\"name\":\"a\x00b\"," + ofS + "}", err: ErrTorn},
	"NULs only":          {in: strings.Repeat("\x00", 600), err: ErrTorn},
	"escaped NUL":        {in: `{"pid":12,"name":"a\u0000b",` + ofS + `}`, want: Record{PID: 12, Session: "s", Name: "a\x00b"}},
	"depth 10,001":       {in: `{"pid":12,"x":` + deepJSON + `,` + ofS + `}`, err: ErrTorn},
	"name of bad UTF-8": {
		in:   "{\"pid\":12,\"name\":\"\xc3\x28\"," + ofS + "}",
		want: Record{PID: 12, Session: "s", Bad: []BadField{{"name", "is not valid UTF-8"}}},
	},
	"name a number": {
		in:   `{"pid":12,"name":7,"status":"busy",` + ofS + `}`,
		want: Record{PID: 12, Session: "s", Status: "busy", Bad: []BadField{{"name", "is no string"}}},
	},
	"status twice": {
		in:   `{"pid":12,"status":"busy","status":"idle","name":"n",` + ofS + `}`,
		want: Record{PID: 12, Session: "s", Name: "n", Bad: []BadField{{"status", "is there twice"}}},
	},
	"status twice by an escape": {
		in:   `{"pid":12,"status":"busy","st\u0061tus":"idle",` + ofS + `}`,
		want: Record{PID: 12, Session: "s", Bad: []BadField{{"status", "is there twice"}}},
	},
	"spare a string": {
		in:   `{"pid":12,"spare":"true",` + ofS + `}`,
		want: Record{PID: 12, Session: "s", Bad: []BadField{{"spare", "is neither true nor false"}}},
	},
	"times that are none": {
		in: `{"pid":12,"startedAt":1796065217,"updatedAt":1796065217544.5,"statusUpdatedAt":-1,` + ofS + `}`,
		want: Record{PID: 12, Session: "s", Bad: []BadField{
			{"statusUpdatedAt", "is no time between 2020 and 2100"},
			{"updatedAt", "is no whole number"},
			{"startedAt", "is no time between 2020 and 2100"},
		}},
	},
	"cwd of 60 KiB": {
		in: `{"pid":12,"cwd":"` + longText + `",` + ofS + `}`,
		want: Record{
			PID: 12, Session: "s", Cwd: longText[:4096], Bad: []BadField{{"cwd", "is longer than 4096 bytes and was cut"}},
		},
	},
	"cut between two characters": {
		in: `{"pid":12,"name":"` + strings.Repeat("x", 254) + `€",` + ofS + `}`,
		want: Record{
			PID: 12, Session: "s", Name: strings.Repeat("x", 254),
			Bad: []BadField{{"name", "is longer than 256 bytes and was cut"}},
		},
	},
}

func TestWeirdRecords(t *testing.T) {
	for name, tc := range weird {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(tc.in))
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("record (-want +got):\n%s", d)
			}
		})
	}
}

func TestRecordName(t *testing.T) {
	for name, want := range map[string]error{
		"12.json": nil, "4194304.json": nil,
		"1.json": errNamePID, "4194305.json": errNamePID, "4294967308.json": errNamePID,
		"99999999999999999999999.json": errNamePID,
		"0.json":                       errName, "012.json": errName, "-12.json": errName, "+12.json": errName, ".json": errName,
		"pid-12.json": errName, "12.json ": errName, "12.JSON": errName, "12.json.tmp": errName, "12": errName, "": errName,
		"12.0123456789abcdef.key": errName, "12.key.tmp.json": errName, "12\n.json": errName, "٣.json": errName,
	} {
		if _, err := recordName(name); err != want {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	if pid, _ := recordName("6540.json"); pid != 6540 {
		t.Errorf("6540.json is of pid %d", pid)
	}
}

func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "records", "*.json"))
	if err != nil || len(names) == 0 {
		f.Fatal("no samples", err)
	}
	for _, name := range names {
		f.Add(sample(f, filepath.Base(name)))
	}
	f.Add([]byte("\xef\xbb\xbf{\"pid\":12,\"pid\":4294967308,\"sessionId\":\"\\ud800\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			if d := cmp.Diff(Record{}, r); d != "" {
				t.Fatalf("a record beside the error %v:\n%s", err, d)
			}
			return
		}
		if !json.Valid(bytes.TrimPrefix(data, byteOrderMark)) {
			t.Fatal("taken, and no JSON")
		}
		if !proc.ValidPID(int64(r.PID)) || r.Session == "" {
			t.Fatalf("pid %d, session %q", r.PID, r.Session)
		}
		for _, s := range []string{
			r.Session, r.ProcStart, r.Domain, r.Version, r.Kind, r.Entrypoint, r.Name, r.Tmux, r.Status,
			r.WaitingFor, r.Job, r.Parked,
		} {
			if len(s) > maxWord || !utf8.ValidString(s) {
				t.Fatalf("the word %q", s)
			}
		}
		for _, s := range []string{r.Cwd, r.Socket} {
			if len(s) > maxPath || !utf8.ValidString(s) {
				t.Fatalf("the path %q", s)
			}
		}
		p := r.peer("/home", "1")
		data, err = events.Encode(events.PeerAppeared{Peer: p})
		if err != nil {
			t.Fatalf("cannot be published: %v in %s", err, data)
		}
		if _, err := events.ParseEndpoint(p.Endpoint); p.Addressable != (err == nil) {
			t.Fatalf("addressable %t at the endpoint %q: %v", p.Addressable, p.Endpoint, err)
		}
	})
}

func FuzzFields(f *testing.F) {
	f.Add(sample(f, "renamed.json"))
	f.Add([]byte(`{"pid" : [ {"a":"]}\\"" } , 1 ],"n\u0061me":"\\","spare":tru}`))
	f.Add([]byte(`{"pid":1e5 ,"pid":{},"name":"\"}","cwd":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFields(data)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &want)
		if (err == nil) != (wantErr == nil && want != nil) {
			t.Fatalf("error %v, encoding/json has %v", err, wantErr)
		} else if err != nil {
			return
		}
		for name := range used {
			v, ok := got.value[name]
			w, wantOK := want[name]
			if ok != wantOK || !bytes.Equal(v, twice) && !bytes.Equal(v, w) {
				t.Errorf("%s: %q, encoding/json has %q", name, v, w)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := sample(b, "idle.json")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
