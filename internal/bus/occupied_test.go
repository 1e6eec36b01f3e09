package bus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"peerbus/embedded"
	"peerbus/events"
	"peerbus/internal/bus"
	"peerbus/internal/state"
	"peerbus/occupancy"
)

var aThread = occupancy.Question{Harness: events.Claude, Thread: "25c49259-5cd0-4744-a158-5d764d50082a"}

// occupied serves verdicts by a look, until the test ends.
func (r *rig) occupied(t *testing.T, look occupancy.Look) *nats.Conn {
	t.Helper()
	g := occupancy.NewGatherer(map[string]occupancy.Look{events.Claude: look}, nil, false)
	t.Cleanup(g.Close)
	r.serve(t, bus.Service{Occupied: g.Ask})
	return r.connect(t, state.Observer)
}

func nobody(context.Context, string) occupancy.Found { return occupancy.Found{Read: true} }

func TestOccupied(t *testing.T) {
	r := start(t)
	nc := r.occupied(t, func(context.Context) (occupancy.About, error) {
		return func(_ context.Context, thread string) occupancy.Found {
			f := occupancy.Found{Read: true}
			if thread == aThread.Thread {
				f.Owners = []occupancy.Owner{{Harness: events.Claude, Thread: thread, PID: 6540, Start: "31702", Source: "claude-registry"}}
			}
			return f
		}, nil
	})
	publish(t, r.log, appeared(1), appeared(2))
	asked := events.At(time.Now())
	v, err := bus.AskOccupied(t.Context(), nc, token, aThread)
	if err != nil || v.Time < asked || v.Time > events.At(time.Now()) {
		t.Errorf("asked at %v: %+v, %v", asked, v, err)
	}
	v.Time = 0
	want := occupancy.Verdict{
		Reason: occupancy.LiveProcess, Host: host, Seq: 2, Doubts: []occupancy.Doubt{},
		Owners: []occupancy.Owner{{Harness: events.Claude, Thread: aThread.Thread, PID: 6540, Start: "31702", Source: "claude-registry"}},
	}
	if d := cmp.Diff(want, v); d != "" {
		t.Errorf("verdict (-want +got):\n%s", d)
	}
	other := occupancy.Question{Harness: events.Claude, Thread: strings.Replace(aThread.Thread, "2", "3", 1)}
	if v, err := bus.AskOccupied(t.Context(), nc, token, other); err != nil || !v.Attachable {
		t.Errorf("another thread: %+v, %v", v, err)
	}
	for q, want := range map[occupancy.Question]occupancy.Reason{
		{}: occupancy.UnsupportedProvider,
		{Harness: events.Claude, Thread: "../../x"}:     occupancy.InvalidThreadID,
		{Harness: events.Codex, Thread: aThread.Thread}: occupancy.DetectorUnavailable,
	} {
		if v, err := bus.AskOccupied(t.Context(), nc, token, q); err != nil || v.Attachable || v.Reason != want {
			t.Errorf("%+v: %+v, %v", q, v, err)
		}
	}
	m, err := nc.Request("watcher.v1."+token+".occupied", []byte("["), 5*time.Second)
	if err != nil || m.Header.Get(micro.ErrorCodeHeader) != "400" {
		t.Errorf("no question: %v, %v", m, err)
	}
}

// TestOccupiedWhenProbesFail has probes that panic, hang and fail: each is a verdict within the deadline, and the
// service lives on.
func TestOccupiedWhenProbesFail(t *testing.T) {
	release := make(chan struct{})
	do := make(chan func() error, 1)
	r := start(t)
	nc := r.occupied(t, func(context.Context) (occupancy.About, error) {
		select {
		case f := <-do:
			return nobody, f()
		default:
			return nobody, nil
		}
	})
	t.Cleanup(func() { close(release) }) // before the gatherer waits for what hangs
	for name, f := range map[string]func() error{
		"panics": func() error { panic("as asked") },
		"fails":  func() error { return errors.New("too many open files") },
		"hangs":  func() error { <-release; return nil },
	} {
		do <- f
		asked := time.Now()
		v, err := bus.AskOccupied(t.Context(), nc, token, aThread)
		if err != nil || v.Attachable || v.Reason != occupancy.ProbeFailed {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if took := time.Since(asked); took > 3*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
		if v, err := bus.AskOccupied(t.Context(), nc, token, aThread); err != nil || !v.Attachable {
			t.Errorf("after one that %s: %+v, %v", name, v, err)
		}
	}
	if _, err := bus.AskStatus(t.Context(), nc, token); err != nil {
		t.Errorf("status: %v", err)
	}
}

// TestOccupiedWithoutAnAnswer has every way in which none comes: none may be taken for attachable.
func TestOccupiedWithoutAnAnswer(t *testing.T) {
	r := start(t)
	nc := r.connect(t, state.Observer)
	if v, err := bus.AskOccupied(t.Context(), nc, token, aThread); !errors.Is(err, bus.ErrNobody) || v.Attachable {
		t.Errorf("without a watcher: %+v, %v", v, err)
	}
	responder := r.connect(t, embedded.Responder)
	for text, want := range map[string]error{
		`{"attachable":true,"reason":"live_desktop_process"}`:      bus.ErrReply,
		`{"attachable":true,"doubts":[{"reason":"probe_failed"}]}`: bus.ErrReply,
		`{"attachable":"true"}`:                                    bus.ErrReply,
		`true`:                                                     bus.ErrReply,
		``:                                                         bus.ErrReply,
		`null`:                                                     nil, // nothing was said, and that is not attachable
		`{}`:                                                       nil,
	} {
		sub, err := responder.Subscribe("watcher.v1."+token+".*", func(m *nats.Msg) {
			if err := m.Respond([]byte(text)); err != nil {
				t.Error(err)
			}
		})
		if err == nil {
			err = responder.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := bus.AskOccupied(t.Context(), nc, token, aThread)
		if !errors.Is(err, want) || v.Attachable {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
	silent, err := responder.SubscribeSync("watcher.v1." + token + ".*")
	if err == nil {
		err = responder.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if v, err := bus.AskOccupied(t.Context(), nc, token, aThread); !errors.Is(err, bus.ErrSilence) || v.Attachable {
		t.Errorf("a service that is slow: %+v, %v", v, err)
	}
	if err := silent.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	r.serve(t, bus.Service{})
	if v, err := bus.AskOccupied(t.Context(), nc, token, aThread); code(err) != 503 || v.Attachable {
		t.Errorf("a service that is not asked this: %+v, %v", v, err)
	}

	down := start(t)
	nc = down.connect(t, state.Observer)
	down.srv.Shutdown()
	if v, err := bus.AskOccupied(t.Context(), nc, token, aThread); err == nil || v.Attachable {
		t.Errorf("without a bus: %+v, %v", v, err)
	}
}
