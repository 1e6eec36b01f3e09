package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"peerbus/events"
)

// The instants that a record can speak of. Claude Code came out in 2025; a clock that was never set says 1970, and
// seconds taken for milliseconds do too.
var (
	earliest = events.At(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	latest   = events.At(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// used are the names that a record's fields are read from.
var used = names("pid", "sessionId", "procStart", "pidDomain", "version", "kind", "entrypoint", "name", "cwd", "tmux",
	"messagingSocketPath", "status", "waitingFor", "statusUpdatedAt", "updatedAt", "startedAt", "jobId", "parkedJobId", "spare")

func names(list ...string) map[string]string {
	m := make(map[string]string, len(list))
	for _, name := range list {
		m[name] = name
	}
	return m
}

// fields are the members of the object that a record is. encoding/json alone would not do: it takes "PID" for "pid",
// the last of two equal names, 0 for null and U+FFFD for broken bytes, and gives up on all fields for one bad one.
type fields struct {
	value map[string]json.RawMessage
	bad   []BadField
}

// readFields reads data as one JSON object and nothing behind it. encoding/json bounds the depth at 10,000.
func readFields(data []byte) (*fields, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &whole); err != nil {
		return nil, err
	}
	if whole[0] != '{' {
		return nil, errors.New("not an object")
	}
	f := &fields{value: make(map[string]json.RawMessage, len(used))}
	for rest := next(whole[1:]); rest[0] != '}'; rest = next(rest) {
		n := valueLen(rest)
		name := rest[:n]
		rest = next(rest[n:])
		n = valueLen(rest)
		f.put(name, rest[:n:n])
		rest = rest[n:]
	}
	return f, nil
}

// twice stands in for the value of a name that is there more than once; it is no JSON, so that nothing can equal it.
var twice = json.RawMessage("twice")

func (f *fields) put(quoted, v json.RawMessage) {
	name := used[string(quoted[1:len(quoted)-1])]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		var s string
		if json.Unmarshal(quoted, &s) == nil {
			name = used[s]
		}
	}
	if name == "" {
		return
	}
	if _, again := f.value[name]; again {
		v = twice
	}
	f.value[name] = v
}

// take is the value of that name, unless it is absent, null, or there twice.
func (f *fields) take(name string) (json.RawMessage, bool) {
	v, ok := f.value[name]
	if !ok || string(v) == "null" {
		return nil, false
	}
	if bytes.Equal(v, twice) {
		f.reject(name, "is there twice")
		return nil, false
	}
	return v, true
}

func (f *fields) reject(name, why string) {
	f.bad = append(f.bad, BadField{Name: name, Why: why})
}

// because is err with what was rejected, if anything was.
func (f *fields) because(err error) error {
	if len(f.bad) == 0 {
		return err
	}
	b := f.bad[0]
	return fmt.Errorf("%w: %s %s", err, b.Name, b.Why)
}

// text is the string of that name, at most limit bytes of it.
func (f *fields) text(name string, limit int) string {
	v, ok := f.take(name)
	if !ok {
		return ""
	}
	if v[0] != '"' {
		f.reject(name, "is no string")
		return ""
	}
	s, ok := unquote(v)
	if !ok {
		f.reject(name, "is not valid UTF-8")
		return ""
	}
	if len(s) <= limit {
		return s
	}
	f.reject(name, fmt.Sprintf("is longer than %d bytes and was cut", limit))
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// integer is the whole number of that name, written as one: neither 1.0 nor 1e3 nor "1".
func (f *fields) integer(name string) (int64, bool) {
	v, ok := f.take(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		f.reject(name, "is no whole number")
	}
	return n, err == nil
}

// instant is the time of that name, in milliseconds since 1970.
func (f *fields) instant(name string) events.Time {
	n, ok := f.integer(name)
	if !ok {
		return 0
	}
	t := events.Time(n)
	if t < earliest || t > latest {
		f.reject(name, "is no time between 2020 and 2100")
		return 0
	}
	return t
}

func (f *fields) flag(name string) bool {
	v, ok := f.take(name)
	if ok && string(v) != "true" && string(v) != "false" {
		f.reject(name, "is neither true nor false")
	}
	return string(v) == "true"
}
