package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
)

// ErrDiskFull says that the bus cannot store any more because there is no space.
var ErrDiskFull = errors.New("the disk is full")

// journal is the server's logger. The server says some failures here and nowhere else: that it could not listen or
// start JetStream, and that it could not write and has given up on storing.
type journal struct {
	log    *slog.Logger
	failed chan error // holds the first failed write

	mu    sync.Mutex
	fatal error // the first; the server carries on half started after it
}

func newJournal(log *slog.Logger) *journal {
	return &journal{log: log, failed: make(chan error, 1)}
}

// The server's notices are about its own parts and of no use to a person who watches sessions.
func (j *journal) Noticef(format string, v ...any) { j.debug(format, v) }

func (j *journal) Debugf(format string, v ...any) { j.debug(format, v) }

func (j *journal) Tracef(format string, v ...any) { j.debug(format, v) }

func (j *journal) debug(format string, v []any) {
	j.log.Debug("nats server", "says", fmt.Sprintf(format, v...))
}

func (j *journal) Warnf(format string, v ...any) { j.warn(format, v) }

// Errorf is a warning for us: whether the process goes on is the caller's to say. That it cannot store is too, once, and
// not for each stream and write.
func (j *journal) Errorf(format string, v ...any) { j.warn(format, v) }

func (j *journal) warn(format string, v []any) {
	said := fmt.Sprintf(format, v...)
	say := j.log.Warn
	if stopsStoring(said) || saysFull(said) || rebuilds(said) {
		say = j.log.Debug
	}
	say("nats server", "says", said)
	if stopsStoring(said) {
		select {
		case j.failed <- because(said, nil):
		default: // the first is still there
		}
	}
}

// Fatalf must not end the process, which is the watcher's. What it says is returned by Start.
func (j *journal) Fatalf(format string, v ...any) {
	said := fmt.Sprintf(format, v...)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fatal == nil {
		j.fatal = because(said, v)
	}
}

// stopsStoring tells whether the server has said that it stores no more: for a stream after a failed write, or at all.
func stopsStoring(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "critical write error") || strings.Contains(said, "will be disabled") ||
		strings.Contains(said, "disabling jetstream")
}

// rebuilds tells whether the server has said that it indexes its messages anew, as it does after it was killed or could
// not write the index. It loses none by that.
func rebuilds(said string) bool {
	return strings.HasPrefix(said, "Filestore ") && strings.Contains(strings.ToLower(said), "stream state")
}

// fatalError is what the server called fatal, nil where it did not.
func (j *journal) fatalError() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fatal
}

// because is what the server said as an error that callers can tell apart.
func because(said string, args []any) error {
	for _, arg := range args {
		cause, _ := arg.(error)
		if op, ok := errors.AsType[*net.OpError](cause); ok && op.Op == "listen" {
			return fmt.Errorf("%w: %w", ErrPortTaken, op)
		}
	}
	if said = "nats server: " + said; saysFull(said) {
		return fmt.Errorf("%w: %s", ErrDiskFull, said)
	}
	return errors.New(said)
}

// saysFull tells whether an error's text is about a lack of space: the server hands its errors on as text.
func saysFull(said string) bool {
	said = strings.ToLower(said)
	for _, full := range []string{"no space left", "out of space", "out of resources", "out of file resources", "not enough space on the disk", "disk quota exceeded"} {
		if strings.Contains(said, full) {
			return true
		}
	}
	return false
}
