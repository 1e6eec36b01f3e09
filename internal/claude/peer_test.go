package claude

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/internal/proc"
)

func TestAPeerIsWhatItsRecordSays(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(written{
		PID: p.pid, Session: "s", ProcStart: p.procStart(), Domain: proc.Domain(), Version: "2.1.332", Kind: "bg",
		Name: "a:b", Cwd: "/home/u/proj", Socket: "/tmp/cc-socks/1.sock", Status: "waiting",
		Waiting: "permission prompt", Since: 1796065404542, Job: "j",
	})
	w.read()
	want := events.Peer{
		Harness: "claude", Session: "s", PID: p.pid, Start: p.start, Name: "a:b", Cwd: "/home/u/proj", Home: w.dir,
		Kind: "bg", Version: "2.1.332", Status: events.Waiting, VendorStatus: "waiting",
		WaitingFor: "permission prompt", StatusSince: 1796065404542, Addressable: true, Socket: "/tmp/cc-socks/1.sock",
		Endpoint: "cc-peer:v1:" + strconv.Itoa(p.pid) + ":a%3Ab:/tmp/cc-socks/1.sock", Job: "j",
	}
	if d := cmp.Diff(want, w.only()); d != "" {
		t.Errorf("peer (-want +got):\n%s", d)
	}
}

func TestStatusWordsAndMissingFields(t *testing.T) {
	p := spawn(t)
	for name, tc := range map[string]struct {
		change func(*written)
		want   events.Peer
	}{
		"busy":         {func(r *written) { r.Status = "busy" }, events.Peer{Status: events.Busy, VendorStatus: "busy", Name: "proj"}},
		"shell":        {func(r *written) { r.Status = "shell" }, events.Peer{Status: events.Idle, VendorStatus: "shell", Name: "proj"}},
		"unknown word": {func(r *written) { r.Status = "dreaming" }, events.Peer{Status: events.Unknown, VendorStatus: "dreaming", Name: "proj"}},
		"no name":      {func(r *written) { r.Name = "" }, events.Peer{Status: events.Idle, VendorStatus: "idle"}},
		"no procStart": {func(r *written) { r.ProcStart = "" }, events.Peer{Status: events.Idle, VendorStatus: "idle", Name: "proj"}},
		"procStart of another system": {
			func(r *written) { r.ProcStart = "garbled" }, events.Peer{Status: events.Idle, VendorStatus: "idle", Name: "proj"},
		},
		"relative socket": {
			func(r *written) { r.Socket = "x.sock" },
			events.Peer{Status: events.Idle, VendorStatus: "idle", Name: "proj", Socket: "x.sock"},
		},
		"socket": {
			func(r *written) { r.Socket = "/x.sock" },
			events.Peer{
				Status: events.Idle, VendorStatus: "idle", Name: "proj", Socket: "/x.sock", Addressable: true,
				Endpoint: "cc-peer:v1:" + strconv.Itoa(p.pid) + ":proj:/x.sock",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := p.idle("s")
			tc.change(&r)
			w.write(r)
			w.read()
			tc.want.Harness, tc.want.Session, tc.want.PID, tc.want.Start, tc.want.Home = "claude", "s", p.pid, p.start, w.dir
			if d := cmp.Diff(tc.want, w.only()); d != "" {
				t.Errorf("peer (-want +got):\n%s", d)
			}
		})
	}
}

func TestBornBareWaitsForAStatus(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	r := p.idle("s")
	r.Status = ""
	w.write(r)
	w.skew = -time.Hour // the file's time says nothing
	w.read()
	w.holds()
	if len(w.again) != 1 || w.again[0].Place != w.at(p.pid) || w.again[0].After > bareGrace {
		t.Errorf("asks for %v", w.again)
	}
	w.says("1 without a status yet")
	r.Status = "idle"
	w.write(r)
	w.read(w.at(p.pid))
	w.holds("s")

	t.Run("no longer than 300 ms", func(t *testing.T) {
		w, p := newWorld(t), spawn(t)
		r := p.idle("s")
		r.Status = ""
		w.write(r)
		w.read()
		w.skew = bareGrace
		w.read(w.at(p.pid))
		if got := w.only(); got.Status != events.Unknown || got.VendorStatus != "" {
			t.Errorf("status %q, %q", got.Status, got.VendorStatus)
		}
	})
	t.Run("and a peer that loses its status stays", func(t *testing.T) {
		r.Status = ""
		w.write(r)
		w.read(w.at(p.pid))
		if got := w.only(); got.Status != events.Unknown {
			t.Errorf("status %q", got.Status)
		}
	})
}

func TestUnreadStartIsNoReasonToBecomeAnother(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.log[events.ID{Harness: "claude", Session: "s", PID: p.pid, Start: "0"}] = events.Peer{
		Harness: "claude", Session: "s", PID: p.pid, Start: proc.Unread, Home: w.dir,
	}
	w.write(p.idle("s"))
	w.read()
	w.went()
	if got := w.only(); got.Start != proc.Unread || got.VendorStatus != "idle" {
		t.Errorf("%+v", got)
	}
	w.write(p.idle("t"))
	w.read()
	w.holds("t")
	if got := w.only(); got.Start != p.start {
		t.Errorf("start %s", got.Start)
	}
}
