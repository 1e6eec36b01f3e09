package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDocumentSetsOneMember(t *testing.T) {
	for name, tc := range map[string]struct{ in, accept, none string }{
		"replaced":        {`{"a":1,"crossSessionInbound":"hold","b":2}`, `{"a":1,"crossSessionInbound":"accept","b":2}`, `{"a":1,"b":2}`},
		"replaced, first": {"{\n\t\"crossSessionInbound\": \"hold\",\n\t\"b\": 2\n}\n", "{\n\t\"crossSessionInbound\": \"accept\",\n\t\"b\": 2\n}\n", "{\n\t\"b\": 2\n}\n"},
		"replaced, last":  {"{\r\n  \"b\": 2,\r\n  \"crossSessionInbound\": \"hold\"\r\n}", "{\r\n  \"b\": 2,\r\n  \"crossSessionInbound\": \"accept\"\r\n}", "{\r\n  \"b\": 2\r\n}"},
		"replaced, alone": {"{\n  \"crossSessionInbound\": \"hold\"\n}\n", "{\n  \"crossSessionInbound\": \"accept\"\n}\n", "{\n}\n"},
		"escaped":         {`{"cross\u0053essionInbound":"hold"}`, `{"cross\u0053essionInbound":"accept"}`, `{}`},
		"no text":         {`{"crossSessionInbound":{"a":["}",1]}}`, `{"crossSessionInbound":"accept"}`, `{}`},
		"null":            {`{"crossSessionInbound":null}`, `{"crossSessionInbound":"accept"}`, `{}`},
		"absent, like its neighbors": {
			"{\n    \"a\" : 1.10,\n    \"b\" : 9007199254740993\n}\n",
			"{\n    \"a\" : 1.10,\n    \"b\" : 9007199254740993,\n    \"crossSessionInbound\" : \"accept\"\n}\n",
			"{\n    \"a\" : 1.10,\n    \"b\" : 9007199254740993\n}\n",
		},
		"absent, dense":                  {`{"a":"<>&"}`, `{"a":"<>&","crossSessionInbound":"accept"}`, `{"a":"<>&"}`},
		"absent, empty":                  {`{}`, `{"crossSessionInbound":"accept"}`, `{}`},
		"absent, empty, in lines":        {"{\n}\n", "{\n  \"crossSessionInbound\": \"accept\"\n}\n", "{\n}\n"},
		"absent, behind a mark":          {"\xef\xbb\xbf{}", "\xef\xbb\xbf{\"crossSessionInbound\":\"accept\"}", "\xef\xbb\xbf{}"},
		"the same name elsewhere":        {`{"a":{"crossSessionInbound":"hold"},"CrossSessionInbound":"hold"}`, `{"a":{"crossSessionInbound":"hold"},"CrossSessionInbound":"hold","crossSessionInbound":"accept"}`, `{"a":{"crossSessionInbound":"hold"},"CrossSessionInbound":"hold"}`},
		"others twice, which is theirs":  {`{"a":1,"a":2}`, `{"a":1,"a":2,"crossSessionInbound":"accept"}`, `{"a":1,"a":2}`},
		"in text that is not all UTF-8.": {"{\"a\":\"\xff\"}", "{\"a\":\"\xff\",\"crossSessionInbound\":\"accept\"}", "{\"a\":\"\xff\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parseDocument([]byte(tc.in), policyKey)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := d.with(`"accept"`); string(got) != tc.accept || err != nil {
				t.Errorf("with: %v (-want +got):\n%s", err, cmp.Diff(tc.accept, string(got)))
			}
			if got, err := d.without(); string(got) != tc.none || err != nil {
				t.Errorf("without: %v (-want +got):\n%s", err, cmp.Diff(tc.none, string(got)))
			}
		})
	}
}

func TestDocumentsThatAreNotTakenApart(t *testing.T) {
	for in, want := range map[string]error{
		"":                            errNoJSON,
		"{":                           errNoJSON,
		`{"a":1,}`:                    errNoJSON,
		`{"a":1} {}`:                  errNoJSON,
		`{"a":"//"`:                   errNoJSON,
		"{\n// so that mail comes\n}": errComments,
		`{"a":1 /* one */}`:           errComments,
		`{"a":"\"//",} // the end`:    errComments,
		`[]`:                          errNoObject,
		`"a"`:                         errNoObject,
		`null`:                        errNoObject,
		`{"` + policyKey + `":"hold","` + policyKey + `":"hold"}`:            errTwice,
		`{"` + policyKey + `":"hold","a":1,"cross\u0053essionInbound":null}`: errTwice,
	} {
		if _, err := parseDocument([]byte(in), policyKey); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}

// texts are JSON objects as somebody may have written them, with the setting or without it.
var texts = rapid.Custom(func(t *rapid.T) string {
	space := rapid.StringMatching(`[ \t\r\n]{0,3}`)
	value := rapid.SampledFrom([]string{
		`9007199254740993`, `1.10`, `-0e-7`, `"<>&\u2028"`, `"},{\"\\"`, `"\ud800"`, "\"\xff\"", `true`, `null`, `[]`, `[1, {"crossSessionInbound":"x"}]`,
		`{"a":{"b":"}"}}`, `""`, `"//"`,
	})
	key := rapid.SampledFrom([]string{`"permissions"`, `"env"`, `"a\"b"`, `""`, `"CrossSessionInbound"`, `"\u0063"`, `"ключ"`})
	members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return key.Draw(t, "key") + space.Draw(t, "s1") + ":" + space.Draw(t, "s2") + value.Draw(t, "value")
	}), 0, 4).Draw(t, "members")
	if rapid.Bool().Draw(t, "set") {
		own := rapid.SampledFrom([]string{`"crossSessionInbound"`, `"cross\u0053essionInbound"`}).Draw(t, "own") +
			space.Draw(t, "s1") + ":" + space.Draw(t, "s2") + value.Draw(t, "value")
		members = slices.Insert(members, rapid.IntRange(0, len(members)).Draw(t, "at"), own)
	}
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "mark") + space.Draw(t, "before") + "{")
	for i, m := range members {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(space.Draw(t, "s") + m + space.Draw(t, "s"))
	}
	return b.String() + space.Draw(t, "inside") + "}" + space.Draw(t, "after")
})

// TestDocumentKeepsEveryOtherByte holds setting and removing against the text itself and against encoding/json.
func TestDocumentKeepsEveryOtherByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { keepsEveryOtherByte(t, []byte(texts.Draw(t, "text"))) })
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte("{\n  \"a\": 1,\n  \"crossSessionInbound\": \"hold\"\n}\n"))
	f.Add([]byte("\xef\xbb\xbf{ }"))
	f.Add([]byte(`{"a":[{"b":"\\\"}"}],"cross\u0053essionInbound":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) { keepsEveryOtherByte(t, text) })
}

type fataler interface{ Fatalf(string, ...any) }

func keepsEveryOtherByte(t fataler, text []byte) {
	before := bytes.Clone(text)
	d, err := parseDocument(text, policyKey)
	if err != nil {
		return
	}
	from, to, was := find(t, before)
	for _, value := range []string{`"accept"`, `"refuse"`, `"x"`} {
		got, err := d.with(value)
		if err != nil {
			t.Fatalf("%q with %s: %v", text, value, err)
		}
		if want := slices.Concat(before[:from], []byte(value), before[to:]); was && !bytes.Equal(got, want) {
			t.Fatalf("%q with %s is %q", text, value, got)
		}
		if !was && !inserted(before, got) {
			t.Fatalf("%q with %s is %q", text, value, got)
		}
		wantMembers(t, got, value, before)
		again, err := parseDocument(got, policyKey)
		if err != nil {
			t.Fatalf("%q is not taken apart: %v", got, err)
		}
		none, err := again.without()
		if err != nil {
			t.Fatalf("%q without: %v", got, err)
		}
		wantMembers(t, none, "", before)
		if !was && !bytes.Equal(none, before) {
			t.Fatalf("set and removed again, %q is %q", before, none)
		}
		if was && !inserted(none, before) {
			t.Fatalf("%q without is %q", before, none)
		}
	}
	if !bytes.Equal(text, before) {
		t.Fatalf("the text itself was changed from %q to %q", before, text)
	}
}

// find is where encoding/json finds the value of the setting.
func find(t fataler, text []byte) (from, to int, there bool) {
	mark := len(text) - len(bytes.TrimPrefix(text, byteOrderMark))
	dec := json.NewDecoder(bytes.NewReader(text[mark:]))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = dec.Token(); err != nil {
			break
		}
		if err = dec.Decode(&value); name == policyKey {
			to = mark + int(dec.InputOffset())
			return to - len(value), to, true
		}
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return 0, 0, false
}

// inserted tells whether b is a with one run of bytes put in.
func inserted(a, b []byte) bool {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	return len(b) > len(a) && bytes.HasSuffix(b, a[head:])
}

// wantMembers fails unless encoding/json finds the value in the text, or nothing for "", and all else as it was.
func wantMembers(t fataler, text []byte, value string, before []byte) {
	members := func(text []byte) map[string]json.RawMessage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &m); err != nil {
			t.Fatalf("%q is not JSON: %v", text, err)
		}
		return m
	}
	got, want := members(text), members(before)
	delete(want, policyKey)
	if value != "" {
		want[policyKey] = json.RawMessage(value)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("members (-want +got):\n%s", d)
	}
}
