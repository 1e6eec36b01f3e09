package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"peerbus/events"
)

// Log is the log of events of one host: the stream PEERS, behind a fence. It is a reconcile.Log. One goroutine
// folds and publishes; the other methods may be called beside it.
type Log struct {
	js     jetstream.JetStream
	host   string
	prefix string // of the subjects of the host's events
	epoch  string
	logger *slog.Logger

	// fence is the last sequence of the host's events that is known here, which every publish expects to be the last;
	// 0 where the log has none.
	fence uint64

	mu     sync.Mutex
	folded bool
	view   events.View
	seq    uint64 // of the last message that is folded or acknowledged
	counts LogCounts
}

// LogCounts are what a log has done since it was opened.
type LogCounts struct {
	Published uint64 `json:"published"` // events that were stored
	Refused   uint64 `json:"refused"`   // events that were left out for their content
	Conflicts uint64 `json:"conflicts"` // publishes that met a rival's
	Skipped   uint64 `json:"skipped"`   // messages in the log that are no events known here, counted at every fold
}

// LogState is what the log says at one instant.
type LogState struct {
	Epoch string
	Seq   uint64 // the last message of the log that is in View
	View  events.View
}

// Retention is what the log holds of all that was ever published.
type Retention struct {
	First, Last     uint64 // sequences; Last is First-1 when it holds nothing
	Bytes, MaxBytes uint64 // when the second is reached, the oldest go; they go after 7 days too
}

// ErrUnavailable says that the log could not store or be read: no answer in time, no stream, no space. Whether the
// last event was stored is not known then; the next fold tells.
var ErrUnavailable = errors.New("the log is not available")

// ErrNotFolded says that the log was not read yet, so that nothing can be said.
var ErrNotFolded = errors.New("the log is not read yet")

// NewLog is the log of host in the streams that [EnsureStreams] made, with the epoch that it answered. js must be
// allowed to publish on the host's ingest subjects.
func NewLog(js jetstream.JetStream, host, epoch string, logger *slog.Logger) *Log {
	return &Log{js: js, host: host, prefix: "peers.v1." + events.Token(host) + ".", epoch: epoch, logger: logger}
}

// State is what the log says now. The view is the caller's. The error is [ErrNotFolded] before the first fold.
func (l *Log) State() (LogState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.folded {
		return LogState{}, ErrNotFolded
	}
	return LogState{Epoch: l.epoch, Seq: l.seq, View: maps.Clone(l.view)}, nil
}

// Counts are the counts so far.
func (l *Log) Counts() LogCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Retention is what the log holds. The error is [ErrUnavailable] or the cause of ctx.
func (l *Log) Retention(ctx context.Context) (Retention, error) {
	info, err := l.info(ctx)
	if err != nil {
		return Retention{}, err
	}
	return Retention{
		First: info.State.FirstSeq, Last: info.State.LastSeq,
		Bytes: info.State.Bytes, MaxBytes: uint64(max(info.Config.MaxBytes, 0)),
	}, nil
}

func (l *Log) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	s, err := l.js.Stream(ctx, Peers)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return s.CachedInfo(), nil
}

// unavailable is err as an [ErrUnavailable], unless it was the caller who gave up.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
