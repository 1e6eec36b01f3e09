package events

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A token is cut at maxToken bytes, so that no name makes a subject that the server would cut the client off for.
const maxToken = 64

// Token is s as one token of a subject: it keeps [A-Za-z0-9_-], writes every other byte as =XX in upper-case hex, and
// "" as "=". What would be longer than 64 bytes is its first 47, "-", and the first 16 hex digits of the SHA-256 of s.
// A token stands for a name and cannot always be turned back into it; the true name is in the payload.
func Token(s string) string {
	if s == "" {
		return "="
	}
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	if b.Len() <= maxToken {
		return b.String()
	}
	sum := sha256.Sum256([]byte(s))
	return b.String()[:47] + "-" + hex.EncodeToString(sum[:8])
}

func peerSubject(host string, p Peer, event string) string {
	return strings.Join([]string{"peers.v1", Token(host), Token(p.Harness), Token(p.Session), Token(p.Instance()), event}, ".")
}
