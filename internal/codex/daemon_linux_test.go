package codex

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/reconcile"
)

const waits = `{"type":"active","activeFlags":["waitingOnApproval"]}`

func TestDaemonTellsThatAThreadWaits(t *testing.T) {
	s, p := newStage(t), self(t)
	thread, quiet := s.hold(p), s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	d := s.daemon()
	d.threads[thread], d.threads[quiet] = waits, `{"type":"idle"}`
	var ws wakes
	s.watch(ws.add)
	peer := func(id string) events.Peer {
		return s.log[events.ID{Harness: events.Codex, Session: id, PID: p.pid, Start: p.start}]
	}
	is := func(id string, want events.Status) func() bool {
		return func() bool { s.settle(); return peer(id).Status == want }
	}
	eventually(t, "it waits since before we were connected", is(thread, events.Waiting))
	eventually(t, "one without a rollout is idle", is(quiet, events.Idle))
	if got := peer(thread); got.WaitingFor != "approval" || got.VendorStatus != "waitingOnApproval" || got.StatusSince != 0 {
		t.Errorf("peer %+v", got)
	}
	s.says("codex daemon", "tells of 2 threads")
	d.says(thread, `{"type":"active","activeFlags":[]}`)
	eventually(t, "it goes on", is(thread, events.Busy))
	ws.forget()
	d.push(`no JSON at all`)
	d.says(newThread(t), waits)
	d.says(thread, `{"type":"active","activeFlags":["waitingOnUserInput"]}`)
	eventually(t, "woken", func() bool { return ws.have(s.at(thread)) })
	s.read(s.at(thread))
	if got := peer(thread); got.Status != events.Waiting || got.WaitingFor != "user input" || got.StatusSince == 0 {
		t.Errorf("peer %+v", got)
	}
	s.write(thread, turnLine("task_complete")) // and the daemon has not said so yet
	s.read(s.at(thread))
	if got := peer(thread); got.Status != events.Idle || got.WaitingFor != "" {
		t.Errorf("after the turn: %+v", got)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, asked := range d.requests {
		switch method, _, _ := strings.Cut(asked, " "); method {
		case "initialize", "initialized", "thread/loaded/list", "thread/list", "thread/unsubscribe":
		default:
			t.Errorf("it was asked for %s", asked)
		}
	}
}

// asked is how often something was asked for.
func (d *codexDaemon) asked(what string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.requests {
		if r == what {
			n++
		}
	}
	return n
}

// A daemon takes the name of the first client for its own, tells that of the last to the vendor, and keeps a thread
// loaded that somebody follows.
func TestDaemonIsLeftAsItIs(t *testing.T) {
	s, p, exec := newStage(t), self(t), spawn(t)
	d := s.daemon()
	var ws wakes
	s.watch(ws.add)
	s.hold(exec)
	s.settle()
	eventually(t, "it is said that it is not listened to", func() bool { return !s.h.homes[0].daemon.untried() })
	s.says("ok codex daemon", "holds no thread")
	if n := d.asked("initialize codex_app_server_daemon"); n != 0 {
		t.Errorf("greeted %d times though it holds no thread", n)
	}
	thread := s.hold(p)
	s.settle()
	eventually(t, "greeted once it holds one", func() bool { return d.asked("initialize codex_app_server_daemon") == 1 && d.connections() == 1 })
	leave := "thread/unsubscribe " + thread
	for range 3 {
		d.says(thread, `{"type":"idle"}`)
	}
	d.says(newThread(t), `{"type":"idle"}`) // once it is heard, so are those before
	eventually(t, "left", func() bool { return d.asked(leave) >= 1 && s.h.homes[0].daemon.count() == 2 })
	if n := d.asked(leave); n != 1 {
		t.Errorf("left %d times", n)
	}
	d.push(`{"method":"turn/started","params":{"threadId":"` + thread + `","turn":{"id":"t"}}}`)
	eventually(t, "left again, since it is followed", func() bool { return d.asked(leave) == 2 })
	d.says(thread, `{"type":"notLoaded"}`)
	d.says(thread, `{"type":"idle"}`)
	eventually(t, "left again, since it was loaded anew", func() bool { return d.asked(leave) == 3 })
}

// count is how many threads were heard of.
func (d *daemon) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.threads)
}

// A thread that the daemon loads after we have connected is told of by pushes alone.
func TestDaemonTellsOfANewThread(t *testing.T) {
	s, p := newStage(t), self(t)
	d := s.daemon()
	var ws wakes
	s.watch(ws.add)
	s.hold(p)
	s.settle()
	eventually(t, "connected", func() bool { return d.connections() == 1 })
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	for _, want := range []struct {
		says   string
		status events.Status
	}{
		{`{"type":"idle"}`, events.Busy}, // the rollout knows better
		{`{"type":"active","activeFlags":[]}`, events.Busy},
		{waits, events.Waiting},
		{`{"type":"active","activeFlags":[]}`, events.Busy},
		{waits, events.Waiting},
		{`{"type":"notLoaded"}`, events.Busy},
	} {
		ws.forget()
		d.says(thread, want.says)
		eventually(t, want.says, func() bool {
			if !ws.have(s.at(thread)) {
				return false
			}
			s.settle(s.at(thread))
			return s.log[events.ID{Harness: events.Codex, Session: thread, PID: p.pid, Start: p.start}].Status == want.status
		})
	}
}

// A daemon that goes takes what it said along, and is found again when it is back.
func TestDaemonGoesAndComesBack(t *testing.T) {
	s, p := newStage(t), self(t)
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	d := s.daemon()
	d.threads[thread] = waits
	s.watch(func(reconcile.Place) {})
	status := func(want events.Status) func() bool {
		return func() bool { s.settle(); return s.only().Status == want }
	}
	eventually(t, "it waits", status(events.Waiting))
	d.stop()
	eventually(t, "the files are what counts", status(events.Busy))
	s.says("ok codex daemon", "is shown as busy")
	s.must(os.RemoveAll(d.path))
	d.start()
	eventually(t, "it waits again", status(events.Waiting))
}

// A watcher that starts anew does not tell of somebody who waits that he works, and one that finds no daemon does.
func TestWaitingOutlivesTheWatcher(t *testing.T) {
	s, p := newStage(t), self(t)
	thread, quiet := s.hold(p), s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	at := func(id string) events.ID {
		return events.ID{Harness: events.Codex, Session: id, PID: p.pid, Start: p.start}
	}
	s.read()
	for id, status := range map[string]events.Peer{
		thread: {Status: events.Waiting, VendorStatus: "waitingOnApproval", WaitingFor: "approval", StatusSince: 7},
		quiet:  {Status: events.Idle, VendorStatus: "idle"},
	} {
		peer := s.log[at(id)]
		peer.Status, peer.VendorStatus, peer.WaitingFor, peer.StatusSince = status.Status, status.VendorStatus, status.WaitingFor, status.StatusSince
		s.log[at(id)] = peer
	}
	s.restart()
	s.h.watching = true // and its daemon was not asked yet
	before := maps.Clone(s.log)
	s.read()
	if d := cmp.Diff(before, s.log); d != "" {
		t.Errorf("peers (-want +got):\n%s", d)
	}
	s.restart()
	s.watch(func(reconcile.Place) {})
	eventually(t, "the files are what counts", func() bool {
		s.settle()
		return s.log[at(thread)].Status == events.Busy && s.log[at(quiet)].Status == events.Unknown
	})
}

// TestDaemonThatMisbehaves has what may be at the socket's path, or say there: the files are what counts.
func TestDaemonThatMisbehaves(t *testing.T) {
	control := func(s *stage) string {
		dir := filepath.Join(s.dir, "app-server-control")
		s.must(os.MkdirAll(dir, 0o700))
		return filepath.Join(dir, "app-server-control.sock")
	}
	for name, tc := range map[string]struct {
		put func(*stage)
		why string
	}{
		"nothing":           {func(*stage) {}, "is not there"},
		"a link to nothing": {func(s *stage) { s.must(os.Symlink("nowhere", control(s))) }, "is not there"},
		"a file":            {func(s *stage) { s.must(os.WriteFile(control(s), nil, 0o600)) }, "no socket"},
		"nobody listens":    {func(s *stage) { s.daemon().stop() }, "is not there"},
		"another user's":    {func(s *stage) { s.must(os.Chown(s.daemon().path, 65534, 65534)) }, "another user"},
		"a message too long": {func(s *stage) {
			d := s.daemon()
			d.threads[newThread(s)] = `{"type":"` + strings.Repeat("x", maxMessage) + `"}`
		}, "read limited"},
		"no WebSocket": {func(s *stage) {
			d := s.daemon()
			d.server.Handler = http.NotFoundHandler()
		}, "expected handshake response status code 101"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newStage(t), self(t)
			thread := s.hold(p)
			s.write(thread, metaLine(thread), turnLine("task_started"))
			tc.put(s)
			s.watch(func(reconcile.Place) {})
			eventually(t, "it is said why", func() bool {
				s.settle()
				return !s.h.homes[0].daemon.untried()
			})
			s.says("ok codex daemon", tc.why)
			if got := s.only(); got.Status != events.Busy {
				t.Errorf("peer %+v", got)
			}
		})
	}
}

// untried tells whether no connection has failed yet.
func (d *daemon) untried() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why == nil
}
