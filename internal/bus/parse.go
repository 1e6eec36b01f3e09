package bus

import (
	"net/textproto"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// Message is one message as a stream has it.
type Message struct {
	Stream  string
	Subject string
	Seq     uint64 // 0 only in a garbled message whose place is not known
	Time    time.Time
	// Header is what the stream stored, and behind it what the server says of the message. A stored value may
	// pretend to be the server's; the server's own is always the last.
	Header nats.Header
	Data   []byte
	// Garbled: its headers cannot be read, so that the subject is not known.
	Garbled bool
}

// Kind tells what a reply to a direct get is.
type Kind int

// The kinds of replies.
const (
	Garbled Kind = iota // a message whose headers cannot be read, or not all of them
	Stored              // a message of a stream
	Control             // no message: its end, or why there is none
)

// Reply is one reply to a direct get.
type Reply struct {
	Kind        Kind
	Message     Message
	Status      int    // of a Control: 204 the end of a batch, 404 nothing there, 408 a bad request, 503 nobody there
	Description string // of a Control
	Pending     uint64 // how many more there are behind this one, for the query
	// Previous is the sequence of the message that was sent before this one in the same batch, 0 at the first.
	Previous uint64
}

// maxHeaders bounds the headers of a message that is not garbled: a spelling that a stranger may choose can save two
// bytes each and 27 in all, and the server's own headers are 116 bytes at least. Anything of ours has a dozen.
const maxHeaders = 32

// Parse tells what a reply to a direct get, or a republished message, is. It does not trust what a sender stored: of
// each header the last value is taken, which is the server's, and a message that bears no stream and no sequence is
// the server speaking. A header block that does not end where the client's reading of it ended is garbled, since the
// server's own headers are then behind what was read; so is one whose end swallowed the first of them.
func Parse(m *nats.Msg) Reply {
	return parse(m.Header, m.Size()-len(m.Subject)-len(m.Reply)-len(m.Data), m.Data)
}

// parse is Parse of what a header block of that many bytes was read as.
func parse(h nats.Header, block int, data []byte) Reply {
	garbled := Reply{Message: Message{Data: data, Garbled: true}}
	if len(h) == 0 || !readWhole(h, block) {
		return garbled
	}
	r := Reply{Pending: number(h, "Nats-Num-Pending"), Previous: number(h, "Nats-Last-Sequence")}
	stream, subject, seq := last(h, "Nats-Stream"), last(h, "Nats-Subject"), number(h, "Nats-Sequence")
	if stream == "" && seq == 0 { // a subject may be there: that nobody serves it
		r.Kind, r.Description = Control, last(h, "Description")
		r.Status, _ = strconv.Atoi(last(h, "Status")) // 0 is as good as any other that is not known
		return r
	}
	at, err := time.Parse(time.RFC3339Nano, last(h, "Nats-Time-Stamp"))
	if err != nil || stream == "" || subject == "" || seq == 0 {
		r.Message = garbled.Message
		r.Message.Seq = seq
		return r
	}
	r.Kind = Stored
	r.Message = Message{Stream: stream, Subject: subject, Seq: seq, Time: at, Header: h, Data: data}
	return r
}

// Heard is what a stream has of m, which was heard on a subject that the stream republishes on. It is false for a
// message that was aimed at the subject by somebody else.
func Heard(m *nats.Msg, stream string) (Message, bool) {
	r := Parse(m)
	ok := r.Kind == Stored && r.Message.Stream == stream && r.Message.Subject == m.Subject
	return r.Message, ok
}

// readWhole tells whether the client read a header block to its end. A stored block with a blank line in it ends there
// for the client, and the server appended its headers behind. The size of the block gives it away: the server's
// headers alone are longer than what the spelling of some legal headers can save.
func readWhole(h nats.Header, block int) bool {
	const line, colon, end = len("NATS/1.0\r\n"), len(": "), len("\r\n")
	read, values := line+end, 0
	for k, vs := range h {
		for _, v := range vs {
			read += len(k) + colon + len(v) + end
			values++
		}
	}
	return values <= maxHeaders && block <= read
}

func last(h nats.Header, key string) string {
	vs := h[key]
	if len(vs) == 0 {
		return ""
	}
	return textproto.TrimString(vs[len(vs)-1])
}

// number is the header as a number, 0 where it is none.
func number(h nats.Header, key string) uint64 {
	n, err := strconv.ParseUint(last(h, key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
