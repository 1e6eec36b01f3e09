package embedded

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestJournal(t *testing.T) {
	listen := &net.OpError{Op: "listen", Net: "tcp", Err: syscall.EADDRINUSE}
	for name, tc := range map[string]struct {
		say           func(*journal)
		fatal, failed error // nil: none; errAny: some
	}{
		"port taken": {say: func(j *journal) { j.Fatalf("Error listening on port: %s, %q", "127.0.0.1:1", listen) }, fatal: ErrPortTaken},
		"the first":  {say: func(j *journal) { j.Fatalf("first: no space left on device"); j.Fatalf("second") }, fatal: ErrDiskFull},
		"other":      {say: func(j *journal) { j.Fatalf("100%% %v", errors.New("x")) }, fatal: errAny},
		"write error": {say: func(j *journal) {
			j.Errorf("JetStream stream '%s > %s' critical write error: %v", "CORE", "PEERS", syscall.ENOSPC)
		}, failed: ErrDiskFull},
		"disk broken": {say: func(j *journal) { j.Errorf("[CORE > PEERS] Critical write error: %v", syscall.EIO) }, failed: errAny},
		"disabled":    {say: func(j *journal) { j.Errorf("JetStream out of space, will be DISABLED") }, failed: ErrDiskFull},
		"not permitted": {say: func(j *journal) {
			j.Warnf("Filesystem permission denied while writing msg, disabling JetStream: %v", syscall.EACCES)
		}, failed: errAny},
		"failed twice":   {say: func(j *journal) { j.Errorf("critical write error: x"); j.Errorf("critical write error: y") }, failed: errAny},
		"a stray client": {say: func(j *journal) { j.Errorf("127.0.0.1:9 - cid:5 - TLS handshake error: EOF") }},
		"chatter":        {say: func(j *journal) { j.Noticef("Server is ready"); j.Debugf("x"); j.Tracef("y") }},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(slog.New(slog.DiscardHandler))
			tc.say(j)
			same(t, "fatal", j.fatalError(), tc.fatal)
			var failed error
			select {
			case failed = <-j.failed:
			default:
			}
			same(t, "failed", failed, tc.failed)
		})
	}
}

var errAny = errors.New("any")

func same(t *testing.T, what string, got, want error) {
	t.Helper()
	special := errors.Is(got, ErrDiskFull) || errors.Is(got, ErrPortTaken)
	switch {
	case want == errAny:
		if got == nil || special {
			t.Errorf("%s: %v, want an error of no kind", what, got)
		}
	case !errors.Is(got, want):
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// That it cannot store is told by Failed and by the errors of Start; the server says it once more for each stream.
func TestJournalKeepsTheServersWordsOnAFullDiskForDebugging(t *testing.T) {
	for said, want := range map[string]slog.Level{
		"Filestore [PEERS] Critical write error: write js/1.blk: no space left on device":          slog.LevelDebug,
		"JetStream failed to store a msg on stream 'CORE > PEERS': write: no space left on device": slog.LevelDebug,
		"JetStream stream 'CORE > PEERS' critical write error: input/output error":                 slog.LevelDebug,
		"Filestore [PEERS] Stream state outdated, last block has additional entries, will rebuild": slog.LevelDebug,
		"Filestore [MAIL] Recovering stream state from index errored: corrupt state file":          slog.LevelDebug,
		"Filestore [PEERS] Recovered a block with bad checksum":                                    slog.LevelWarn,
		"127.0.0.1:9 - cid:5 - TLS handshake error: EOF":                                           slog.LevelWarn,
	} {
		var out bytes.Buffer
		j := newJournal(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		j.Warnf("%s", said)
		if !strings.Contains(out.String(), "level="+want.String()) {
			t.Errorf("%q is logged as %s; want %v", said, out.String(), want)
		}
	}
}
