package codex

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"peerbus/events"
)

// status is what the daemon says of a thread. The zero value is that it says nothing.
type status struct {
	word  string   // "active", "idle", "notLoaded", "systemError"
	flags []string // of an active one, as "waitingOnApproval"
}

// told is one thing that the daemon says.
type told struct {
	thread string
	status status
}

// message is one of the daemon's, as far as it is of use.
type message struct {
	answers int64    // the request that it answers, 0 if it answers none
	refused bool     // the answer is an error
	loaded  []string // threads that it has loaded
	told    []told
	// sentOf is the thread of which it tells something that only those are sent who follow it.
	sentOf string
}

var errMessage = errors.New("not a message")

// maxFlags is how many flags of a thread are kept; there are two.
const maxFlags = 8

// decodeMessage reads a message. Of one that is of no use it returns an empty one.
func decodeMessage(data []byte) (message, error) {
	f, err := readFields(data)
	if err != nil {
		return message{}, errMessage
	}
	var m message
	p := f.object("params")
	switch f.text("method", maxWord) {
	case "thread/status/changed":
		m.tell(p.thread("threadId"), p.object("status"))
	case "thread/started":
		m.sentOf = p.object("thread").thread("id")
		m.tell(m.sentOf, p.object("thread").object("status"))
	case "turn/started":
		m.sentOf = p.thread("threadId")
	case "":
		if json.Unmarshal(f["id"], &m.answers) != nil || m.answers <= 0 {
			return message{}, errMessage
		}
		m.refused = f["error"] != nil
		for _, v := range f.object("result").list("data") {
			if id := textOf(v, idLen+1); validID(id) {
				m.loaded = append(m.loaded, id)
			} else if thread, err := readFields(v); err == nil {
				m.tell(thread.thread("id"), thread.object("status"))
			}
		}
	}
	return m, nil
}

func (m *message) tell(thread string, f fields) {
	s := status{word: f.text("type", maxWord)}
	if thread == "" || s.word == "" {
		return
	}
	for _, v := range f.list("activeFlags") {
		if flag := textOf(v, maxWord); flag != "" && len(s.flags) < maxFlags {
			s.flags = append(s.flags, flag)
		}
	}
	m.told = append(m.told, told{thread, s})
}

// unwanted is the thread that is to be left: it is told of for the first time, so that it may be a new one which we were
// made a follower of, or something is told of it that only followers are. left are those that were.
func (m *message) unwanted(left map[string]bool) string {
	if m.answers != 0 {
		return "" // about threads that were there before us
	}
	for _, t := range m.told {
		if t.status.word == "notLoaded" {
			delete(left, t.thread)
		} else if !left[t.thread] && m.sentOf == "" {
			m.sentOf = t.thread
		}
	}
	if m.sentOf != "" && len(left) < maxHeard {
		left[m.sentOf] = true
	}
	return m.sentOf
}

// waitsFor are the flags of somebody who waits, in words.
var waitsFor = map[string]string{"waitingOnApproval": "approval", "waitingOnUserInput": "user input"}

// waiting is what the thread waits for, and the flags that say so; "" where it does not wait.
func (s status) waiting() (what, flags string) {
	var whats, said []string
	for _, flag := range s.flags {
		if strings.HasPrefix(flag, "waitingOn") && s.word == "active" && !slices.Contains(said, flag) {
			what := waitsFor[flag]
			if what == "" {
				what = flag
			}
			whats, said = append(whats, what), append(said, flag)
		}
	}
	return cut(strings.Join(whats, ", "), maxWord), cut(strings.Join(said, ","), maxWord)
}

// heard is what the daemon said last of a thread.
type heard struct {
	status status
	at     events.Time // 0 where it is how the thread was when it was first asked about
}

// improve has p say what the daemon says and the files do not: that it waits, unless by the files there is no turn, and
// where the files say nothing, whether there is one.
func (h heard) improve(p *events.Peer) {
	what, flags := h.status.waiting()
	switch {
	case what != "" && p.Status != events.Idle:
		p.Status, p.VendorStatus, p.WaitingFor, p.StatusSince = events.Waiting, flags, what, h.at
	case p.Status != events.Unknown:
	case h.status.word == "active":
		p.Status, p.VendorStatus, p.StatusSince = events.Busy, h.status.word, h.at
	case h.status.word == "idle":
		p.Status, p.VendorStatus, p.StatusSince = events.Idle, h.status.word, h.at
	}
}
