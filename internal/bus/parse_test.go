package bus

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
)

// serverSays are the headers that the server appends to a stored message, in the order in which it does.
var serverSays = [][2]string{
	{"Nats-Stream", Mail},
	{"Nats-Subject", "mail.v1.q.h.c.s.n.i"},
	{"Nats-Sequence", "42"},
	{"Nats-Time-Stamp", "2026-11-30T19:01:08Z"},
	{"Nats-Num-Pending", "7"},
	{"Nats-Last-Sequence", "41"},
}

// served is a stored header block as the server sends it with a direct get.
func served(stored []byte) []byte {
	block := stored
	for _, kv := range serverSays {
		var b bytes.Buffer
		if len(block) > 2 {
			b.Write(block[:len(block)-2])
		} else {
			b.WriteString("NATS/1.0\r\n")
		}
		if err := (http.Header{kv[0]: {kv[1]}}).Write(&b); err != nil {
			panic(err)
		}
		b.WriteString("\r\n")
		block = b.Bytes()
	}
	return block
}

func parseBlock(block, data []byte) Reply {
	h, err := nats.DecodeHeadersMsg(block)
	if err != nil {
		h = nil // as the client hands it over
	}
	return parse(h, len(block), data)
}

// A header block that somebody stored cannot make a message look like another, or like the server speaking.
func FuzzParse(f *testing.F) {
	for _, stored := range poison {
		f.Add([]byte(stored), []byte("text"))
	}
	at := time.Date(2026, 11, 30, 19, 1, 8, 0, time.UTC)
	f.Fuzz(func(t *testing.T, stored, data []byte) {
		parseBlock(stored, data) // whatever the server may say: no panic
		r := parseBlock(served(stored), data)
		if !bytes.Equal(r.Message.Data, data) {
			t.Errorf("data %q became %q", data, r.Message.Data)
		}
		if r.Kind == Garbled || r.Kind == Stored && r.Message.Stream != Mail {
			return // as Direct takes it
		}
		r.Message.Header, r.Message.Data = nil, nil
		want := Reply{Kind: Stored, Pending: 7, Previous: 41, Message: Message{
			Stream: Mail, Subject: "mail.v1.q.h.c.s.n.i", Seq: 42, Time: at,
		}}
		if d := cmp.Diff(want, r); d != "" {
			t.Errorf("stored header block %q (-want +got):\n%s", stored, d)
		}
	})
}

// poison are header blocks that a sender may store.
var poison = map[string]string{
	"none":           "",
	"plain":          "NATS/1.0\r\nMail-When: now\r\n\r\n",
	"no space":       "NATS/1.0\r\nMail-When:now\r\n\r\n",
	"bare newlines":  "NATS/1.0\nMail-When:now\n\r\n",
	"another one's":  "NATS/1.0\r\nNats-Stream: PEERS\r\nNats-Sequence: 1\r\nNats-Subject: mail.v1.q.h.c.s.bob.i\r\n\r\n",
	"end of batch":   "NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\n\r\n",
	"nobody there":   "NATS/1.0 503\r\n\r\n",
	"status":         "NATS/1.0\r\nStatus: 503\r\n\r\n",
	"two blocks":     "NATS/1.0\r\nNats-Stream: MAIL\r\nNats-Sequence: 1\r\nNats-Subject: mail.v1.q.h.c.s.bob.i\r\nNats-Time-Stamp: 2026-11-30T19:01:08Z\r\n\r\n\r\n",
	"ends early":     "NATS/1.0 404 Not Found\r\n\r\nNATS/1.0\r\n\r\n",
	"no block":       "garbage",
	"no colon":       "NATS/1.0\r\nno colon here\r\n\r\n",
	"empty key":      "NATS/1.0\r\n: x\r\n\r\n",
	"no end":         "NATS/1.0 404 Not FoundXX",
	"no end either":  "NATS/1.0\r\nNats-Stream: PEERS\r\nA: bXX",
	"trailing space": "NATS/1.0\r\nA: b   \r\n\r\n",
}

func TestStoredHeadersCannotMisleadTheParser(t *testing.T) {
	want := map[string]Kind{
		"none": Stored, "plain": Stored, "no space": Stored, "bare newlines": Stored, "another one's": Stored,
		"end of batch": Stored, "nobody there": Stored, "status": Stored, "two blocks": Garbled, "ends early": Garbled,
		"no block": Garbled, "no colon": Garbled, "empty key": Garbled, "no end": Garbled, "no end either": Stored, "trailing space": Stored,
	}
	for name, stored := range poison {
		t.Run(name, func(t *testing.T) {
			r := parseBlock(served([]byte(stored)), nil)
			if r.Kind != want[name] {
				t.Errorf("kind %d, want %d: %+v", r.Kind, want[name], r)
			}
			if r.Kind == Stored && (r.Message.Seq != 42 || r.Message.Subject != "mail.v1.q.h.c.s.n.i") {
				t.Errorf("taken for %+v", r.Message)
			}
		})
	}
}

// However a stranger spells the headers, the ones that the server appends behind an early end are noticed.
func TestNoSpellingHidesTheServersHeaders(t *testing.T) {
	for n := range maxHeaders + 40 {
		var b bytes.Buffer
		b.WriteString("NATS/1.0 404x\n")
		for range n {
			b.WriteString("a:b\n")
		}
		b.WriteString("Nats-Stream:MAIL\nNats-Sequence:1\nNats-Subject:mail.v1.q.h.c.s.bob.i\nNats-Time-Stamp:2026-11-30T19:01:08Z\n\n\r\n")
		if r := parseBlock(served(b.Bytes()), nil); r.Kind != Garbled {
			t.Fatalf("with %d headers in front it is taken for %+v", n, r)
		}
	}
}

func TestParseControl(t *testing.T) {
	for name, tc := range map[string]struct {
		block string
		want  Reply
	}{
		"no responders":              {"NATS/1.0 503\r\n\r\n", Reply{Kind: Control, Status: 503}},
		"no responders to a subject": {"NATS/1.0 503\r\nNats-Subject: a.b\r\n\r\n", Reply{Kind: Control, Status: 503}},
		"not found":                  {"NATS/1.0 404 Message Not Found\r\n\r\n", Reply{Kind: Control, Status: 404, Description: "Message Not Found"}},
		"end of batch": {
			"NATS/1.0 204 EOB\r\nNats-Num-Pending: 3\r\nNats-Last-Sequence: 9\r\n\r\n",
			Reply{Kind: Control, Status: 204, Description: "EOB", Pending: 3, Previous: 9},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, parseBlock([]byte(tc.block), nil)); d != "" {
				t.Errorf("reply (-want +got):\n%s", d)
			}
		})
	}
}
