// Package screen writes for people: text that cannot act on a terminal, tables that fit it, and colors where they are
// wanted.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
)

// fallback is the width of tables where the output is no terminal, in columns: what every terminal has.
const fallback = 80

// Screen is where results go.
type Screen struct {
	io.Writer
	Width int // columns
	color bool
}

// New is a screen on w. Colors are used on a terminal only, and not where NO_COLOR is set or TERM is dumb.
func New(w io.Writer) *Screen {
	s := &Screen{Writer: w, Width: fallback}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	s.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// To is s with another place to write to.
func (s *Screen) To(w io.Writer) *Screen {
	other := *s
	other.Writer = w
	return &other
}

// Color is what a text stands for, not how it looks.
type Color string

// The colors, as SGR parameters of the standard palette, so that they follow the user's theme.
const (
	Plain  Color = ""
	Faint  Color = "2"
	Good   Color = "32"
	Notice Color = "33"
	Bad    Color = "31"
	Strong Color = "1"
)

// Paint is text in a color, or text alone where colors are not wanted. The text must be clean.
func (s *Screen) Paint(c Color, text string) string {
	if !s.color || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Clean is s with everything that is not printable, escape sequences, line ends and marks that turn the direction of
// writing among them, written as Go would write it in a string.
func Clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	var b []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\x`...)
			b = strconv.AppendUint(append(b, hex(s[i]>>4)...), uint64(s[i]&15), 16)
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b = append(b, q[1:len(q)-1]...)
		}
		i += n
	}
	return string(b)
}

// CleanJSON is a JSON text with every character that is not printable written as its escape, which encoding/json does
// for those below U+0020 only. The value stays the same.
func CleanJSON(data []byte) []byte {
	if bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return data
	}
	var out []byte
	for _, r := range string(data) {
		switch {
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func hex(c byte) string { return strconv.FormatUint(uint64(c), 16) }
