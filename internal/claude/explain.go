package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// Explain implements [reconcile.Harness]. It looks anew at the record, the process and the socket. The verdict is on
// the process; whether that still holds the session is for the record to say.
func (h *Harness) Explain(ctx context.Context, p events.Peer) reconcile.Explanation {
	sight := proc.Check(identity(p))
	e := reconcile.Explanation{Verdict: sight.Verdict.String(), Evidence: []reconcile.Evidence{h.processSays(p, sight)}}
	if !slices.ContainsFunc(h.homes, func(hm *home) bool { return hm.path == p.Home }) {
		e.Evidence = append(e.Evidence, reconcile.Evidence{
			Source: "record", About: strconv.Quote(p.Home), Says: "is no home that is looked at",
		})
		return e
	}
	path := filepath.Join(p.Home, "sessions", fileName(p.PID))
	rec, written, err := readNow(ctx, filepath.Dir(path), p.PID)
	if err != nil {
		e.Evidence = append(e.Evidence, reconcile.Evidence{Source: "record", About: strconv.Quote(path), Says: plain(err)})
		return e
	}
	e.Evidence = append(e.Evidence, h.recordSays(p, path, rec, written))
	if bearer := proc.Look(p.PID); bearer.Verdict == proc.Alive {
		match := proc.Compare(rec.ProcStart, bearer)
		e.Evidence = append(e.Evidence, startSays(path, rec, match))
		if match == proc.Different {
			e.Verdict = proc.Replaced.String()
		}
	}
	if rec.Socket != "" {
		e.Evidence = append(e.Evidence, socketSays(rec.Socket))
	}
	return e
}

func (h *Harness) processSays(p events.Peer, sight proc.Sight) reconcile.Evidence {
	e := reconcile.Evidence{Source: "process", About: strconv.Itoa(p.PID), Time: events.At(h.now())}
	switch sight.Verdict {
	case proc.Alive:
		e.OK, e.Says = true, "is alive, with start "+sight.Start
		if sight.Start == proc.Unread {
			e.Says = "is alive; its start cannot be read"
		}
		if h.ours(proc.Identity{PID: p.PID, Start: sight.Start}) {
			e.OK, e.Says = false, "is a courier of ours"
		}
	case proc.Dead:
		e.Says = "has ended"
	case proc.Replaced:
		e.Says = fmt.Sprintf("is another one, with start %s and not %q", sight.Start, p.Start)
	default:
		e.Says = "cannot be asked"
		if sight.Err != nil {
			e.Says += ": " + plain(sight.Err)
		}
	}
	return e
}

func (h *Harness) recordSays(p events.Peer, path string, rec Record, written time.Time) reconcile.Evidence {
	e := reconcile.Evidence{Source: "record", About: strconv.Quote(path), Time: rec.Updated}
	if e.Time == 0 {
		e.Time = events.At(written)
	}
	switch {
	case foreign(rec.Domain, h.domain, runtime.GOOS):
		e.Says = fmt.Sprintf("was written in another pid domain: %q", rec.Domain)
	case rec.Session != p.Session:
		e.Says = fmt.Sprintf("is about another session now: %q", rec.Session)
	case rec.Parked != "":
		e.Says = fmt.Sprintf("was handed to the background job %q", rec.Parked)
	case rec.Spare:
		e.Says = "was started in advance and has no session"
	default:
		e.OK, e.Says = true, fmt.Sprintf("is about this session, with status %q", rec.Status)
	}
	return e
}

func startSays(path string, rec Record, match proc.Match) reconcile.Evidence {
	e := reconcile.Evidence{Source: "record", About: strconv.Quote(path), OK: match != proc.Different}
	switch match {
	case proc.Same:
		e.Says = fmt.Sprintf("procStart %q is the start of the process", rec.ProcStart)
	case proc.Different:
		e.Says = fmt.Sprintf("procStart %q is not the start of the process", rec.ProcStart)
	default:
		e.Says = fmt.Sprintf("procStart %q neither proves nor disproves the process", rec.ProcStart)
	}
	return e
}

func socketSays(path string) reconcile.Evidence {
	e := reconcile.Evidence{Source: "socket", About: strconv.Quote(path)}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		e.Says = plain(err)
	case info.Mode().Type() != fs.ModeSocket:
		e.Says = "is there and is no socket"
	default:
		e.OK, e.Says = true, "is there"
	}
	return e
}

// readNow reads the record of pid in a folder, and when it was written. A torn one is read again until it is whole or
// the retries are used up.
func readNow(ctx context.Context, path string, pid int) (Record, time.Time, error) {
	s := slot{pid: pid}
	buf := make([]byte, maxFile+1)
	for {
		if err := s.loadFrom(path, buf); err != nil {
			return Record{}, time.Time{}, err
		}
		wait := s.retry()
		if s.bad == nil {
			return s.rec, s.key.written(), nil
		} else if !errors.Is(s.bad, ErrTorn) || wait == 0 {
			return Record{}, time.Time{}, s.bad
		}
		select {
		case <-ctx.Done():
			return Record{}, time.Time{}, s.bad
		case <-time.After(wait):
		}
	}
}

// loadFrom loads the slot from the folder at path. The error says that the file could not be found.
func (s *slot) loadFrom(path string, buf []byte) error {
	d, err := openFolder(path)
	if err != nil {
		return err
	}
	defer d.close()
	key, odd := d.stat(fileName(s.pid))
	if errors.Is(odd, fs.ErrNotExist) {
		return odd
	}
	s.load(d, key, odd, time.Now(), buf)
	if !s.here {
		return fs.ErrNotExist
	}
	return nil
}

// plain is what err says, without the path that it may begin with, and without what a terminal would obey.
func plain(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	s := err.Error()
	if quoted := strconv.Quote(s); quoted[1:len(quoted)-1] != s {
		return quoted
	}
	return s
}
