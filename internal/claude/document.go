package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// document is the text of settings, taken apart far enough that one member can be set or removed and every other byte
// stays as it is. Decoding and encoding it instead would sort keys, round numbers and escape < and >.
type document struct {
	data []byte
	key  string
	open int // behind the {
	// members are where keys and values begin and end, in order.
	members []member
	has     bool // the member with the key
	at      int  // which one it is
}

type member struct{ key, keyEnd, value, end int }

// Why a text is not taken apart.
var (
	errNoJSON   = errors.New("is not JSON")
	errComments = errors.New("has comments, which JSON does not")
	errNoObject = errors.New("is not one JSON object")
	errTwice    = errors.New("has the setting twice")
)

// parseDocument takes the text apart around the member with that key. The error wraps one of those above.
func parseDocument(data []byte, key string) (document, error) {
	d := document{data: data, key: key}
	text := bytes.TrimPrefix(data, byteOrderMark)
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		if commented(text) {
			return document{}, errComments
		}
		return document{}, fmt.Errorf("%w: %w", errNoJSON, err)
	}
	rest := bytes.TrimLeft(text, " \t\r\n")
	if rest[0] != '{' {
		return document{}, errNoObject
	}
	where := func(rest []byte) int { return len(data) - len(rest) }
	d.open = where(rest) + 1
	for rest = next(rest[1:]); rest[0] != '}'; rest = next(rest) {
		var m member
		m.key, m.keyEnd = where(rest), where(rest)+valueLen(rest)
		rest = next(data[m.keyEnd:])
		m.value, m.end = where(rest), where(rest)+valueLen(rest)
		rest = data[m.end:]
		if d.named(m) {
			if d.has {
				return document{}, errTwice
			}
			d.has, d.at = true, len(d.members)
		}
		d.members = append(d.members, m)
	}
	return d, nil
}

// named tells whether the member is the one of the document's key, however that is written.
func (d document) named(m member) bool {
	var name string
	return json.Unmarshal(d.data[m.key:m.keyEnd], &name) == nil && name == d.key
}

// commented tells whether a text that is no JSON has a comment outside its strings.
func commented(text []byte) bool {
	for i := 0; i < len(text)-1; i++ {
		switch {
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case text[i] == '/' && (text[i+1] == '/' || text[i+1] == '*'):
			return true
		}
	}
	return false
}

// value is the member's value as it is written.
func (d document) value() (raw []byte, there bool) {
	if !d.has {
		return nil, false
	}
	m := d.members[d.at]
	return d.data[m.value:m.end], true
}

// with is the text with the member set to a value that is valid JSON. A new member comes last, spaced like the one
// before it.
func (d document) with(value string) ([]byte, error) {
	if d.has {
		m := d.members[d.at]
		return d.checked(d.splice(m.value, m.end, value), value)
	}
	if len(d.members) == 0 {
		inner, _, _ := bytes.Cut(d.data[d.open:], []byte("}"))
		before, colon := "", ":"
		if bytes.IndexByte(inner, '\n') >= 0 {
			before, colon = "\n  ", ": "
		}
		return d.checked(d.splice(d.open, d.open, before+`"`+d.key+`"`+colon+value), value)
	}
	last := d.members[len(d.members)-1]
	from := d.open
	if n := len(d.members); n > 1 {
		from = d.comma(d.members[n-2]) + 1
	}
	before, colon := d.data[from:last.key], d.data[last.keyEnd:last.value]
	return d.checked(d.splice(last.end, last.end, ","+string(before)+`"`+d.key+`"`+string(colon)+value), value)
}

// without is the text without the member, with the comma and the space that belong to it. What [document.with] has
// added is gone without a trace.
func (d document) without() ([]byte, error) {
	if !d.has {
		return d.data, nil
	}
	m := d.members[d.at]
	from, to := d.open, m.end
	switch {
	case d.at > 0:
		from = d.comma(d.members[d.at-1])
	case len(d.members) > 1:
		from, to = m.key, d.members[1].key
	}
	return d.checked(d.splice(from, to, ""), "")
}

// comma is where the comma behind a member is.
func (d document) comma(m member) int { return m.end + bytes.IndexByte(d.data[m.end:], ',') }

func (d document) splice(from, to int, text string) []byte {
	out := make([]byte, 0, len(d.data)+len(text))
	out = append(out, d.data[:from]...)
	out = append(out, text...)
	return append(out, d.data[to:]...)
}

// checked is the text, once it is certain that it has the value, or no such member for "", and that every other
// member is as it was.
func (d document) checked(text []byte, value string) ([]byte, error) {
	now, err := parseDocument(text, d.key)
	if err != nil {
		return nil, err
	}
	raw, there := now.value()
	if string(raw) != value || there != (value != "") || !bytes.Equal(now.others(), d.others()) {
		return nil, errors.New("the change would not be what it should")
	}
	return text, nil
}

// others are the members but for the one, as they are written.
func (d document) others() []byte {
	var out []byte
	for i, m := range d.members {
		if !d.has || i != d.at {
			out = append(out, d.data[m.key:m.keyEnd]...)
			out = append(out, ':')
			out = append(out, d.data[m.value:m.end]...)
			out = append(out, ',')
		}
	}
	return out
}
