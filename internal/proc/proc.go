package proc

import (
	"errors"
	"os"
	"time"
)

// Unread is the start of a process whose start could not be read. It proves nothing.
const Unread = "0"

// MaxPID is the highest pid that can be: PID_MAX_LIMIT of 64-bit Linux, 2^22. macOS ends at 99999.
const MaxPID = 4194304

// ErrPID is the error of a [Sight] of what cannot be a pid of a session.
var ErrPID = errors.New("pid is outside 2 to 4194304")

// Identity is one process for as long as it lives.
type Identity struct {
	PID int
	// Start is when it started, as the operating system counts. Linux: clock ticks since boot; macOS: seconds since
	// 1970; Windows: 100 ns since 1601; [Unread] where it is not known.
	Start string
}

// Verdict is what is known of a process.
type Verdict int

// The verdicts. Unknown is that the kernel could not be asked, and says nothing for or against.
const (
	Unknown  Verdict = iota
	Alive            // a process bears the pid
	Dead             // no process bears the pid, or one that has ended and was not yet reaped
	Replaced         // another process bears the pid
)

// String is the verdict in lower case.
func (v Verdict) String() string {
	switch v {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	case Replaced:
		return "replaced"
	}
	return "unknown"
}

// Sight is what was seen of a pid at one instant.
type Sight struct {
	Verdict Verdict
	// Start is the start of the pid's bearer, as in [Identity]; [Unread] where none is alive or it is hidden from us.
	Start string
	// Began is Start by the wall clock as it is set now, zero where it is not known.
	Began time.Time
	// OtherClock is that the bearer counts the time since boot from another point than we do (a Linux time
	// namespace), so that a start which it wrote down itself cannot be compared with Start.
	OtherClock bool
	// Err is why the verdict is Unknown, or why the start of a live process is not known.
	Err error
}

// ValidPID tells whether pid can be the pid of a session: 2 to [MaxPID]. Decoders use it before a pid becomes an int.
func ValidPID(pid int64) bool { return 2 <= pid && pid <= MaxPID }

// Look asks who bears pid now. The verdict is Alive, Dead or Unknown. A process that has ended and waits to be reaped
// is dead, one whose main thread alone has ended is alive, and the id of a thread is no process. A pid that is not
// valid is Unknown with [ErrPID].
func Look(pid int) Sight {
	if !ValidPID(int64(pid)) {
		return Sight{Start: Unread, Err: ErrPID}
	}
	return look(pid)
}

// Check is [Look] at the pid of id, and Replaced where the start of its bearer is proven to be another one. The start
// [Unread] proves nothing, on either side.
func Check(id Identity) Sight {
	return judge(id, Look(id.PID))
}

// SelfID is the identity of the running process.
func SelfID() Identity {
	return Identity{PID: os.Getpid(), Start: look(os.Getpid()).Start}
}
