package codex

import (
	"bytes"
	"slices"

	"peerbus/events"
)

// turn is the last that a rollout says of a turn. The zero value is that it says nothing.
type turn struct {
	status events.Status // busy or idle
	word   string        // the vendor's own
	at     events.Time
}

// turnWords are the events with which a turn begins and ends. The longer ones are other names of the same.
var turnWords = map[string]events.Status{
	"task_started": events.Busy, "turn_started": events.Busy,
	"task_complete": events.Idle, "turn_complete": events.Idle,
	"turn_aborted": events.Idle,
}

// decodeTurn reads a line of a rollout. It is not ok for a line that does not say that a turn begins or ends.
func decodeTurn(line []byte) (t turn, ok bool) {
	if len(line) > lineMost || !hasTurnWord(line) {
		return turn{}, false // as most lines: they need not be decoded
	}
	f, err := readFields(line)
	if err != nil || f.text("type", maxWord) != "event_msg" {
		return turn{}, false
	}
	t.word = f.object("payload").text("type", maxWord)
	t.status, ok = turnWords[t.word]
	if !ok {
		return turn{}, false
	}
	t.at = f.instant("timestamp")
	return t, true
}

// quotedWords are the words as they stand in a line.
var quotedWords = func() (words [][]byte) {
	for word := range turnWords {
		words = append(words, []byte(`"`+word+`"`))
	}
	return words
}()

func hasTurnWord(line []byte) bool {
	return slices.ContainsFunc(quotedWords, func(word []byte) bool { return bytes.Contains(line, word) })
}
