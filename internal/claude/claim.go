package claude

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// claim is a record's claim to hold a session, and what was seen of the process and the socket that it names.
type claim struct {
	rec     Record
	written time.Time // when its file was
	sight   proc.Sight
	socket  error     // why the socket was not found, where the process lives
	boot    time.Time // zero where it is not known
	domain  string    // our own pid domain
}

// judge says what the claim comes to: [occupancy.LiveProcess] with the start of the process, "" for nobody, or the
// reason of a doubt and why. A process that ended holds nothing. One that lives and is not proven to be another one than
// the record's is at the least a doubt, and so is one that is proven to be another: that the record was left behind is
// certain only where it is older than the machine's last start.
func (c claim) judge() (reason occupancy.Reason, why string) {
	if foreign(c.rec.Domain, c.domain, runtime.GOOS) {
		return occupancy.ForeignPIDDomain, fmt.Sprintf("was written in the pid domain %q", c.rec.Domain)
	}
	switch c.sight.Verdict {
	case proc.Alive:
	case proc.Dead:
		return c.nobody()
	default:
		return occupancy.ProbeFailed, "the process cannot be asked: " + bareText(errOr(c.sight.Err, errNoAnswer))
	}
	switch match := compareStart(c.rec.ProcStart, c.sight); {
	case match == proc.Same && c.socket == nil:
		return occupancy.LiveProcess, c.sight.Start
	case match == proc.Same:
		return occupancy.UnverifiableLivenessSocket, bareText(c.socket)
	case match == proc.Different && c.written.Add(slack).Before(c.boot):
		return c.nobody()
	case c.sight.Start == proc.Unread:
		return occupancy.UnverifiableProcessStart, "the start of the process cannot be read: " + bareText(errOr(c.sight.Err, errNoAnswer))
	}
	return occupancy.UnverifiableProcessStart,
		fmt.Sprintf("procStart %q, and the live process has %s", c.rec.ProcStart, c.sight.Start)
}

var errNoAnswer = errors.New("no answer")

func errOr(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// nobody is that the record's process has ended, unless its pid may mean something else than it means here.
func (c claim) nobody() (reason occupancy.Reason, why string) {
	if runtime.GOOS == "linux" && c.domain == "" && c.rec.Domain != "" {
		return occupancy.ForeignPIDDomain, fmt.Sprintf("was written in the pid domain %q, and our own is not known", c.rec.Domain)
	}
	return "", ""
}

// startSlack is by how much a start that was written as a time may differ from one that was counted in ticks from the
// boot: ps cuts to whole seconds, and the boot is known to fractions of one.
const startSlack = 1500 * time.Millisecond

// compareStart is [proc.Compare], and takes the text of `ps -o lstart=` too where starts are counted in ticks. By a
// clock that may have been set since, such a text can prove that the process is the same one and nothing else.
func compareStart(procStart string, s proc.Sight) proc.Match {
	match := proc.Compare(procStart, s)
	if match != proc.Unproven || runtime.GOOS != "linux" || s.Began.IsZero() || s.OtherClock {
		return match
	}
	const lstart = "Mon Jan 2 15:04:05 2006"
	text := strings.Join(strings.Fields(procStart), " ")
	wrote, err := time.Parse(lstart, text) // in UTC
	if err != nil || wrote.Format(lstart) != text || math.Abs(float64(s.Began.Sub(wrote))) > float64(startSlack) {
		return match
	}
	return proc.Same
}
