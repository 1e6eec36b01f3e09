package events_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"peerbus/events"
)

var (
	legalToken = regexp.MustCompile(`^[A-Za-z0-9_=-]{1,64}$`)
	toEscape   = regexp.MustCompile(`[^A-Za-z0-9_-]`)
)

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkToken checks what holds for the token of every name: it is legal, and while it is whole it can be turned back,
// so that no two short names share one.
func checkToken(t fataler, name string) {
	t.Helper()
	token := events.Token(name)
	if !legalToken.MatchString(token) {
		t.Fatalf("%q has the token %q", name, token)
	}
	if escaped := escape(name); len(escaped) > 64 {
		sum := sha256.Sum256([]byte(name))
		if want := escaped[:47] + "-" + hex.EncodeToString(sum[:])[:16]; token != want {
			t.Fatalf("%q has the token %q, want %q", name, token, want)
		}
		return
	}
	back, err := url.PathUnescape(strings.ReplaceAll(strings.TrimSuffix(token, "="), "=", "%"))
	if err != nil || back != name {
		t.Fatalf("%q has the token %q, which is turned back into %q (%v)", name, token, back, err)
	}
}

// escape is the token of name before it is cut, by another way than Token's.
func escape(name string) string {
	return toEscape.ReplaceAllStringFunc(latin1(name), func(r string) string {
		return fmt.Sprintf("=%02X", []rune(r)[0])
	})
}

// latin1 has a rune for each byte of s, so that a regular expression matches bytes.
func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// checkSubject checks that e's subject is one that a server takes: the tokens of the design and no wildcard.
func checkSubject(t fataler, e events.Event) {
	t.Helper()
	tokens := strings.Split(e.Subject(), ".")
	if len(tokens) != 7 || tokens[0] != "peers" || tokens[1] != "v1" {
		t.Fatalf("subject %q", e.Subject())
	}
	for _, token := range tokens {
		if !legalToken.MatchString(token) {
			t.Fatalf("token %q in subject %q", token, e.Subject())
		}
	}
}

func TestToken(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "=",
		"laptop":                      "laptop",
		"A_b-9":                       "A_b-9",
		"my.host":                     "my=2Ehost",
		"*":                           "=2A",
		">":                           "=3E",
		"=":                           "=3D",
		"two\nlines":                  "two=0Alines",
		"é":                           "=C3=A9",
		strings.Repeat("x", 64):       strings.Repeat("x", 64),
		strings.Repeat("x", 65):       strings.Repeat("x", 47) + "-9537c5fdf120482f",
		strings.Repeat(".", 22):       strings.Repeat("=2E", 15) + "=2-e21612cbaf18a415",
		strings.Repeat("x", 61) + ".": strings.Repeat("x", 61) + "=2E",
		strings.Repeat("x", 62) + ".": strings.Repeat("x", 47) + "-03959944a2147d2f",
	} {
		if got := events.Token(name); got != want {
			t.Errorf("%q has the token %q, want %q", name, got, want)
		}
	}
}

func TestSubjects(t *testing.T) {
	m := events.Meta{Host: "my.host"}
	p := events.Peer{Harness: "claude", Session: "25c49259-5cd0-4744-a158-5d764d50082a", PID: 6540, Start: "31702"}
	const peer = "peers.v1.my=2Ehost.claude.25c49259-5cd0-4744-a158-5d764d50082a.6540-31702."
	for want, e := range map[string]events.Event{
		peer + "appeared":                events.PeerAppeared{Meta: m, Peer: p},
		peer + "status":                  events.StatusChanged{Meta: m, Peer: p},
		peer + "changed":                 events.PeerChanged{Meta: m, Peer: p},
		peer + "present":                 events.PeerPresent{Meta: m, Peer: p},
		peer + "gone":                    events.PeerGone{Meta: m, Peer: p},
		"peers.v1.my=2Ehost.=.=.=.watch": events.WatchResumed{Meta: m},
	} {
		if got := e.Subject(); got != want {
			t.Errorf("%T goes to %s, want %s", e, got, want)
		}
	}
}

func TestTokenIsLegalAndTellsShortNamesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkToken(t, rapid.OneOf(texts, rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 80), func(b []byte) string { return string(b) })).Draw(t, "name"))
	})
}

func TestLongNamesOfOneBeginningHaveTokensOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for i := range 10_000 {
		name := strings.Repeat("x", 300) + fmt.Sprint(i)
		token := events.Token(name)
		if other, ok := seen[token]; ok {
			t.Fatalf("%q and %q share the token %q", name, other, token)
		}
		seen[token] = name
	}
}

// Names with newlines, escape sequences, "*", ">", dots and 300 characters: the subject is legal and says who it is
// about to nobody else's subscription, and the true name is in the JSON.
func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		t.Run(events.Token(name), func(t *testing.T) {
			p := events.Peer{
				Harness: name, Session: name, PID: 7, Start: name, Status: events.Idle,
				Name: name, Cwd: name, Kind: name, WaitingFor: name, Tmux: name,
			}
			want := events.PeerAppeared{Meta: events.Meta{Host: name}, Peer: p}
			checkSubject(t, want)
			data, err := events.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range data {
				if c < ' ' {
					t.Fatalf("a control byte in %q", data)
				}
			}
			got, err := events.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("decoded (-want +got):\n%s", d)
			}
		})
	}
}
