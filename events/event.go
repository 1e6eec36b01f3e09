package events

// Event is one of [PeerAppeared], [StatusChanged], [PeerChanged], [PeerPresent], [PeerGone] and [WatchResumed].
// The set is closed here and open on the wire.
type Event interface {
	// Head is what every event says of itself.
	Head() Meta
	// Subject is where the event is published once it is committed.
	Subject() string

	wire() wire
}

// Meta is what every event says of itself.
type Meta struct {
	ID    string // a random UUIDv7, the same when a publish is retried
	Time  Time   // when it was seen
	Host  string // where it was seen
	Epoch string // the log's identity: another epoch means that the history starts anew
}

// PeerAppeared says that a peer is there that was not there before.
type PeerAppeared struct {
	Meta Meta
	Peer Peer
}

// StatusChanged says that a peer's status, vendor_status or waiting_for is another one.
type StatusChanged struct {
	Meta Meta
	Peer Peer
	Was  Was
}

// PeerChanged says that any other compared field of a peer is another one, status_since alone among them.
type PeerChanged struct {
	Meta Meta
	Peer Peer
	Was  Was
}

// PeerPresent repeats a peer that is still there, so that a log with a limited memory does not forget it.
type PeerPresent struct {
	Meta Meta
	Peer Peer
}

// PeerGone says that a peer is not there any more. Peer is the last that was known of it.
type PeerGone struct {
	Meta   Meta
	Peer   Peer
	Reason Reason
	// Missed: it went while nobody watched, at some time after NotBefore, when it was last known to be there.
	Missed    bool
	NotBefore Time
	// Job is the background job in which a parked session goes on; Successor is the peer that goes on with the
	// conversation, where that is known.
	Job       string
	Successor Ref
}

// WatchResumed says that nobody watched between two instants. BlindFrom is 0 when nobody ever watched before.
type WatchResumed struct {
	Meta      Meta
	BlindFrom Time
	BlindTo   Time
	Why       Blindness
}

// Ref names a peer of the same host and harness.
type Ref struct {
	Session  string `json:"session"`
	Instance string `json:"instance"`
}

// Reason is why a peer is gone.
type Reason string

// The reasons of a going.
const (
	Exited       Reason = "exited"       // the record was taken away and the process ended
	Unregistered Reason = "unregistered" // the record was taken away and the process lives on
	Died         Reason = "died"         // the process ended and left its record
	Replaced     Reason = "replaced"     // the pid belongs to another process now
	Parked       Reason = "parked"       // the session was handed to a background job
	Switched     Reason = "switched"     // the process holds another session now
	RenamedHost  Reason = "renamed_host" // the host goes on under another name
)

// Blindness is why nobody watched.
type Blindness string

// The kinds of blindness.
const (
	Start    Blindness = "start"    // the watcher was not running
	Sleep    Blindness = "sleep"    // the machine slept, or the watcher was stopped
	Overflow Blindness = "overflow" // the kernel dropped notices
	Folder   Blindness = "folder"   // the folder was away or unreadable
)

func (e PeerAppeared) Head() Meta  { return e.Meta }
func (e StatusChanged) Head() Meta { return e.Meta }
func (e PeerChanged) Head() Meta   { return e.Meta }
func (e PeerPresent) Head() Meta   { return e.Meta }
func (e PeerGone) Head() Meta      { return e.Meta }
func (e WatchResumed) Head() Meta  { return e.Meta }

func (e PeerAppeared) Subject() string  { return peerSubject(e.Meta.Host, e.Peer, "appeared") }
func (e StatusChanged) Subject() string { return peerSubject(e.Meta.Host, e.Peer, "status") }
func (e PeerChanged) Subject() string   { return peerSubject(e.Meta.Host, e.Peer, "changed") }
func (e PeerPresent) Subject() string   { return peerSubject(e.Meta.Host, e.Peer, "present") }
func (e PeerGone) Subject() string      { return peerSubject(e.Meta.Host, e.Peer, "gone") }
func (e WatchResumed) Subject() string  { return "peers.v1." + Token(e.Meta.Host) + ".=.=.=.watch" }

// Stamp is e with m in place of what it said of itself.
func Stamp(e Event, m Meta) Event {
	switch e := e.(type) {
	case PeerAppeared:
		e.Meta = m
		return e
	case StatusChanged:
		e.Meta = m
		return e
	case PeerChanged:
		e.Meta = m
		return e
	case PeerPresent:
		e.Meta = m
		return e
	case PeerGone:
		e.Meta = m
		return e
	case WatchResumed:
		e.Meta = m
		return e
	}
	panic("events: an event of no known type")
}

// PeerOf is the peer that e is about, and whether it is about one.
func PeerOf(e Event) (Peer, bool) {
	switch e := e.(type) {
	case PeerAppeared:
		return e.Peer, true
	case StatusChanged:
		return e.Peer, true
	case PeerChanged:
		return e.Peer, true
	case PeerPresent:
		return e.Peer, true
	case PeerGone:
		return e.Peer, true
	}
	return Peer{}, false
}
