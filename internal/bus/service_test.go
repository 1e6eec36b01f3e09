package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/micro"

	"peerbus/embedded"
	"peerbus/internal/bus"
	"peerbus/internal/state"
	"peerbus/reconcile"
)

const token = "laptop=2Elocal"

func TestRequestsThatAreNoJSON(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	nc := r.connect(t, state.Observer)
	for _, endpoint := range []string{"snapshot", "why", "status"} {
		for _, data := range []string{"{", "[]", `{"seq":-1,"peer":7}`, "\xff"} {
			if endpoint == "status" && data == `{"seq":-1,"peer":7}` {
				continue // it asks for nothing
			}
			m, err := nc.Request("watcher.v1."+token+"."+endpoint, []byte(data), 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Header.Get(micro.ErrorCodeHeader); got != "400" || m.Header.Get(micro.ErrorHeader) == "" {
				t.Errorf("%s %q: code %q %q", endpoint, data, got, m.Header.Get(micro.ErrorHeader))
			}
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	r := start(t)
	nc := r.connect(t, state.Observer)
	began := time.Now()
	if _, err := bus.AskSnapshot(t.Context(), nc, token, bus.SnapshotRequest{}); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("without a watcher: %v", err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("not asked again: %s", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := bus.AskStatus(ctx, nc, token); !errors.Is(err, enough) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestAnswersBeforeTheFold(t *testing.T) {
	r := start(t)
	r.log = r.newLog()
	nc := r.connect(t, embedded.Responder)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		done <- bus.Service{Log: r.log, Version: "1.0.0", Logger: quiet, Why: r.log.Why(nil), Status: func(context.Context) bus.StatusReply {
			return bus.StatusReply{}
		}}.Serve(ctx, nc)
	}()
	observer := r.connect(t, state.Observer)
	var err error
	within(t, func() bool {
		_, err = bus.AskStatus(t.Context(), observer, token)
		return !errors.Is(err, bus.ErrNobody)
	})
	if got := code(err); got != 503 {
		t.Errorf("status: %v", err)
	}
	if _, err := bus.AskSnapshot(t.Context(), observer, token, bus.SnapshotRequest{}); code(err) != 503 {
		t.Errorf("snapshot: %v", err)
	}
	if _, err := bus.AskWhy(t.Context(), observer, token, bus.WhyRequest{Peer: "x"}); code(err) != 503 {
		t.Errorf("why: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("serve ended with %v", err)
	}
}

// A slow answer, one that panics and one that fails are told as 503, and hold up no other.
func TestAnswersThatFail(t *testing.T) {
	r := start(t)
	begun, release := make(chan struct{}), make(chan struct{})
	r.serve(t, bus.Service{Why: func(_ context.Context, ref string) (bus.WhyReply, error) {
		switch ref {
		case "slow":
			close(begun)
			<-release
		case "panic":
			panic("as asked")
		}
		return bus.WhyReply{}, errors.New("no idea")
	}})
	nc := r.connect(t, state.Observer)
	slow := make(chan error, 1)
	asked := time.Now()
	go func() {
		_, err := bus.AskWhy(t.Context(), nc, token, bus.WhyRequest{Peer: "slow"})
		slow <- err
	}()
	<-begun
	for _, ref := range []string{"panic", "else"} {
		if _, err := bus.AskWhy(t.Context(), nc, token, bus.WhyRequest{Peer: ref}); code(err) != 503 {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if len(slow) > 0 {
		t.Error("the others waited for the slow one")
	}
	if err := <-slow; code(err) != 503 || time.Since(asked) < 2*time.Second {
		t.Errorf("slow: %v after %s", err, time.Since(asked))
	}
	close(release)
}

func TestStatus(t *testing.T) {
	r := start(t)
	facts := []reconcile.Fact{{Check: "watch", OK: true, Fact: "inotify"}}
	r.serve(t, bus.Service{Status: func(context.Context) bus.StatusReply {
		return bus.StatusReply{Version: "1", PID: 42, Started: 7, Facts: facts, Host: "not mine to say"}
	}})
	publish(t, r.log, appeared(1), appeared(2), gone(1))
	got, err := bus.AskStatus(t.Context(), r.connect(t, state.Observer), token)
	want := bus.StatusReply{
		Host: host, Epoch: r.epoch, Seq: 3, Peers: 1, Log: bus.LogCounts{Published: 3},
		Version: "1", PID: 42, Started: 7, Facts: facts,
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestServiceDescribesItself(t *testing.T) {
	r := start(t)
	r.serve(t, bus.Service{})
	m, err := r.connect(t, state.Operator).Request("$SRV.INFO.watcher", nil, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var info micro.Info
	if err := json.Unmarshal(m.Data, &info); err != nil {
		t.Fatal(err)
	}
	if info.Name != "watcher" || info.Version != "1.2.3" || info.Metadata["host"] != host {
		t.Errorf("info %+v", info)
	}
	var subjects []string
	for _, e := range info.Endpoints {
		subjects = append(subjects, e.Subject)
		for _, key := range []string{"request", "response"} {
			if !json.Valid([]byte(e.Metadata[key])) {
				t.Errorf("%s: its %s is %q", e.Name, key, e.Metadata[key])
			}
		}
		if e.QueueGroup != token {
			t.Errorf("%s has queue group %q", e.Name, e.QueueGroup)
		}
	}
	var want []string
	for _, name := range []string{"snapshot", "why", "status", "occupied"} {
		want = append(want, "watcher.v1."+token+"."+name)
	}
	if d := cmp.Diff(want, subjects); d != "" {
		t.Errorf("subjects (-want +got):\n%s", d)
	}
}
