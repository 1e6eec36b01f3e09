package claude

import (
	"errors"
	"fmt"

	"peerbus/events"
	"peerbus/internal/proc"
)

// The limits, in bytes, of what is kept of a text; what is longer is cut between two characters.
const (
	maxWord = 256  // names and words
	maxPath = 4096 // PATH_MAX of Linux
)

// What [Decode] answers for what is no record.
var (
	ErrTorn      = errors.New("not one whole JSON object")
	ErrNoPID     = errors.New("no valid pid")
	ErrNoSession = errors.New("no valid sessionId")
)

// Record is what one process of Claude Code wrote about itself. A zero field is absent or was not valid.
type Record struct {
	PID     int
	Session string

	ProcStart string // when the process started, as its system counts; see proc.Compare
	Domain    string // the machine and the pid namespace in which PID means something
	Version   string
	// Kind is "interactive" or "bg"; Entrypoint "cli" or "sdk-cli"; more will come.
	Kind, Entrypoint string
	Name, Cwd        string
	Tmux             string // "session:@window.%pane"
	Socket           string // where it takes messages

	// Status is the program's own word. It is absent for some 100 ms after the record is made.
	Status     string
	WaitingFor string
	// StatusSince and Started are within [earliest] and [latest], or zero.
	StatusSince, Updated, Started events.Time

	Job    string // the background job that this process is
	Parked string // the background job to which this process handed its session
	Spare  bool   // started in advance, without a session of its own

	// Bad are the fields that were there and were not taken as they were.
	Bad []BadField
}

// BadField is a field of a record that was not taken as it was.
type BadField struct {
	Name string
	Why  string
}

// Decode reads a record. It knows its fields by their exact names and ignores all others. A field that is there twice
// or has a value of the wrong kind is as good as absent, and in Bad; null is the same as absent. One leading byte order
// mark is skipped. The error is [ErrTorn] for what is not one JSON object from the first byte to the last, and
// [ErrNoPID] or [ErrNoSession] where it does not say which process or session it is about. Whatever comes in, the pid
// of a record that is returned without an error satisfies proc.ValidPID.
func Decode(data []byte) (Record, error) {
	f, err := readFields(data)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrTorn, err)
	}
	pid, ok := f.integer("pid")
	if !ok {
		return Record{}, f.because(ErrNoPID)
	} else if !proc.ValidPID(pid) {
		return Record{}, fmt.Errorf("%w: %d", ErrNoPID, pid)
	}
	session := f.text("sessionId", maxWord)
	if session == "" || len(f.bad) > 0 { // a session that was cut is another session
		return Record{}, f.because(ErrNoSession)
	}
	r := Record{
		PID:         int(pid),
		Session:     session,
		ProcStart:   f.text("procStart", maxWord),
		Domain:      f.text("pidDomain", maxWord),
		Version:     f.text("version", maxWord),
		Kind:        f.text("kind", maxWord),
		Entrypoint:  f.text("entrypoint", maxWord),
		Name:        f.text("name", maxWord),
		Cwd:         f.text("cwd", maxPath),
		Tmux:        f.text("tmux", maxWord),
		Socket:      f.text("messagingSocketPath", maxPath),
		Status:      f.text("status", maxWord),
		WaitingFor:  f.text("waitingFor", maxWord),
		StatusSince: f.instant("statusUpdatedAt"),
		Updated:     f.instant("updatedAt"),
		Started:     f.instant("startedAt"),
		Job:         f.text("jobId", maxWord),
		Parked:      f.text("parkedJobId", maxWord),
		Spare:       f.flag("spare"),
	}
	r.Bad = f.bad
	return r, nil
}

// whole tells whether the field of that name was taken as it was.
func (r Record) whole(name string) bool {
	for _, b := range r.Bad {
		if b.Name == name {
			return false
		}
	}
	return true
}
