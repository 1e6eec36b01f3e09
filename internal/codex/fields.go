package codex

import (
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"peerbus/events"
)

// The limits, in bytes, of what is kept of a text; what is longer is cut between two characters.
const (
	maxWord = 256  // names and words
	maxPath = 4096 // PATH_MAX of Linux
)

var errNoObject = errors.New("not one whole JSON object")

// fields are the members of a JSON object by their exact names. What is absent or of another kind than asked for is
// as good as absent: a change of the vendor's in one field loses that field and no other.
type fields map[string]json.RawMessage

func readFields(data []byte) (fields, error) {
	var f fields
	if json.Unmarshal(data, &f) != nil || f == nil {
		return nil, errNoObject
	}
	return f, nil
}

// object is the object of that name, an empty one if there is none.
func (f fields) object(name string) fields {
	inner, err := readFields(f[name])
	if err != nil {
		return fields{}
	}
	return inner
}

// list are the members of the array of that name.
func (f fields) list(name string) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(f[name], &all) != nil {
		return nil
	}
	return all
}

// text is the string of that name, at most limit bytes of it.
func (f fields) text(name string, limit int) string { return textOf(f[name], limit) }

func textOf(v json.RawMessage, limit int) string {
	if len(v) == 0 || v[0] != '"' || !utf8.Valid(v) {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return cut(s, limit)
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// thread is the thread id of that name.
func (f fields) thread(name string) string {
	id := f.text(name, idLen+1)
	if !validID(id) {
		return ""
	}
	return id
}

// instant is the RFC 3339 time of that name, 0 if it is none in which Codex can have run.
func (f fields) instant(name string) events.Time {
	t, err := time.Parse(time.RFC3339Nano, f.text(name, maxWord))
	if err != nil || t.Before(earliest) || t.After(latest) {
		return 0
	}
	return events.At(t)
}
