package codex

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// Why something in the folder of the locks is no thread's lock.
var (
	errName = errors.New("is not named <thread id>.lock")
	errKind = errors.New("is no regular file")
)

// coordination is the file by which the processes of Codex take turns in that folder. It is nobody's thread.
const coordination = ".coordination.lock"

// lockThread is the thread that a name of exactly the form <thread id>.lock stands for.
func lockThread(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".lock")
	return id, ok && validID(id)
}

func lockName(id string) string { return id + ".lock" }

// rolloutThread is the thread that a name of exactly the form rollout-<time>-<thread id>.jsonl stands for.
func rolloutThread(name string) (id string, ok bool) {
	rest, ok := strings.CutSuffix(name, ".jsonl")
	if !ok || len(rest) < idLen || !strings.HasPrefix(rest, "rollout-") {
		return "", false
	}
	id = rest[len(rest)-idLen:]
	return id, validID(id)
}

// idLen is the length of a thread id: a UUID in its canonical form.
const idLen = 36

// validID tells whether s is a UUID in its canonical form, lower case. It is asked before a path is built of s.
func validID(s string) bool {
	if len(s) != idLen {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8, i == 13, i == 18, i == 23:
			if c != '-' {
				return false
			}
		case !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f'):
			return false
		}
	}
	return true
}

// The years in which a thread can have been made. Codex came out in 2025; an id outside of them tells no time.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// born is when the thread of a valid id was made: the first 48 bits of a UUIDv7 are milliseconds since 1970. Ids of
// other versions do not tell.
func born(id string) (at time.Time, ok bool) {
	b, err := hex.DecodeString(id[:8] + id[9:13])
	if err != nil || id[14] != '7' {
		return time.Time{}, false
	}
	var ms int64
	for _, c := range b {
		ms = ms<<8 | int64(c)
	}
	at = time.UnixMilli(ms).UTC()
	return at, at.After(earliest) && at.Before(latest)
}
