package claude

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/reconcile"
)

// written is a record as a session writes it.
type written struct {
	PID       int    `json:"pid"`
	Session   string `json:"sessionId"`
	ProcStart string `json:"procStart,omitzero"`
	Domain    string `json:"pidDomain,omitzero"`
	Version   string `json:"version,omitzero"`
	Kind      string `json:"kind,omitzero"`
	Name      string `json:"name,omitzero"`
	Cwd       string `json:"cwd,omitzero"`
	Socket    string `json:"messagingSocketPath,omitzero"`
	Status    string `json:"status,omitzero"`
	Waiting   string `json:"waitingFor,omitzero"`
	Since     int64  `json:"statusUpdatedAt,omitzero"`
	Job       string `json:"jobId,omitzero"`
	Parked    string `json:"parkedJobId,omitzero"`
	Spare     bool   `json:"spare,omitzero"`
}

// idle is the record of an idle session in p.
func (p process) idle(session string) written {
	return written{PID: p.pid, Session: session, ProcStart: p.procStart(), Name: "proj", Status: "idle"}
}

// world is a home, the harness that reads it, and a log that believes every snapshot.
type world struct {
	testing.TB
	dir string // the home
	h   *Harness

	skew   time.Duration // how far the harness's clock is ahead
	log    map[events.ID]events.Peer
	gone   []going
	blind  []reconcile.Blind
	again  []reconcile.Again // of the last snapshot
	unread []reconcile.Place // likewise
}

// going is one peer that went.
type going struct {
	Session string
	PID     int
	reconcile.Going
}

func newWorld(t testing.TB, more ...string) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), log: map[events.ID]events.Peer{}}
	w.mkdir()
	w.restart(more...)
	return w
}

// restart replaces the harness by a new one, which knows nothing; the log stays.
func (w *world) restart(more ...string) {
	w.h = New(append([]string{w.dir}, more...), Options{Log: slog.New(slog.DiscardHandler)})
	w.h.now = func() time.Time { return time.Now().Add(w.skew) }
}

func (w *world) folder() string { return filepath.Join(w.dir, "sessions") }

func (w *world) mkdir() {
	w.Helper()
	w.must(os.Mkdir(w.folder(), 0o700))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) file(pid int) string { return filepath.Join(w.folder(), fileName(pid)) }

// write writes a record as Claude Code does: in place.
func (w *world) write(r written) {
	w.Helper()
	w.must(writeRecord(w.folder(), r))
}

func writeRecord(folder string, r written) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fileName(r.PID)), data, 0o644)
}

// at is the record of pid as a place.
func (w *world) at(pid int) reconcile.Place {
	return reconcile.Place{Harness: events.Claude, Home: w.dir, PID: pid}
}

// read reads, has the log believe it, and fails the test where the snapshot leaves open what became of somebody.
func (w *world) read(of ...reconcile.Place) reconcile.Snapshot {
	w.Helper()
	known := slices.Collect(maps.Values(w.log))
	s := w.h.Read(w.Context(), of, known)
	w.again, w.unread, w.blind = s.Again, s.Unread, append(w.blind, s.Blind...)
	there := map[events.ID]events.Peer{}
	for _, p := range s.Peers {
		if _, again := there[p.ID("")]; again {
			w.Fatalf("twice in one snapshot: %+v", p)
		}
		there[p.ID("")] = p
	}
	for _, k := range known {
		if len(of) > 0 && !slices.ContainsFunc(of, func(pl reconcile.Place) bool { return pl.Holds(k) }) {
			continue
		}
		w.settle(k, s, there)
	}
	maps.Copy(w.log, there)
	return s
}

// settle has the log believe what s says of k.
func (w *world) settle(k events.Peer, s reconcile.Snapshot, there map[events.ID]events.Peer) {
	w.Helper()
	id := k.ID("")
	_, isThere := there[id]
	why, isGone := s.Gone[id]
	unread := slices.ContainsFunc(s.Unread, func(pl reconcile.Place) bool { return pl.Holds(k) })
	switched := slices.ContainsFunc(s.Peers, func(p events.Peer) bool {
		return p.PID == k.PID && p.Start == k.Start && p.Session != k.Session
	})
	said := 0
	for _, b := range []bool{isThere, isGone, unread} {
		if b {
			said++
		}
	}
	switch {
	case said > 1 || said == 0 && !switched:
		w.Fatalf("%d things said of %+v in %+v", said, k, s)
	case isGone:
		delete(w.log, id)
		w.gone = append(w.gone, going{k.Session, k.PID, why})
	case said == 0:
		delete(w.log, id)
		w.gone = append(w.gone, going{k.Session, k.PID, reconcile.Going{Reason: events.Switched}})
	}
}

// peers are the sessions in the log, sorted.
func (w *world) peers() []string {
	var sessions []string
	for _, p := range w.log {
		sessions = append(sessions, p.Session)
	}
	slices.Sort(sessions)
	return sessions
}

// holds fails the test unless the log has these sessions and no others.
func (w *world) holds(sessions ...string) {
	w.Helper()
	if d := cmp.Diff(sessions, w.peers()); d != "" {
		w.Errorf("sessions in the log (-want +got):\n%s", d)
	}
}

// went fails the test unless these have gone since it was asked last, in this order.
func (w *world) went(want ...going) {
	w.Helper()
	if d := cmp.Diff(want, w.gone); d != "" {
		w.Errorf("gone (-want +got):\n%s", d)
	}
	w.gone = nil
}

func left(session string, p process, why events.Reason) going {
	return going{session, p.pid, reconcile.Going{Reason: why}}
}

// only is the one peer in the log.
func (w *world) only() events.Peer {
	w.Helper()
	if len(w.log) != 1 {
		w.Fatalf("%d peers in the log: %v", len(w.log), w.peers())
	}
	for _, p := range w.log {
		return p
	}
	panic("unreachable")
}

// facts is the doctor's report as text.
func (w *world) facts() string {
	var b strings.Builder
	for _, f := range w.h.Facts() {
		mark := "bad"
		if f.OK {
			mark = "ok"
		}
		b.WriteString(mark + " " + f.Check + ": " + f.Fact + " (" + f.Hint + ")\n")
	}
	return b.String()
}

// says fails the test unless the doctor's report has a line with all of these in it.
func (w *world) says(parts ...string) {
	w.Helper()
	report := w.facts()
	for line := range strings.Lines(report) {
		if !slices.ContainsFunc(parts, func(s string) bool { return !strings.Contains(line, s) }) {
			return
		}
	}
	w.Errorf("no line with %q in\n%s", parts, report)
}
