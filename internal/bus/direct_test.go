package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// Every role reads the log; the mailer reads the mail, and nobody else does.
func TestDirectByRole(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 20)...)
	sender := r.connect(t, state.SenderRole(state.LocalSender))
	js, err := jetstream.NewWithAPIPrefix(sender, "core")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "mail.v1.q."+token+".claude.s.local.1", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{embedded.Watcher, state.Operator, state.Mailer, state.Observer} {
		nc := r.connect(t, role)
		b, err := bus.Direct(t.Context(), nc, bus.Peers, bus.Query{Seq: 3, Batch: 5})
		if err != nil || len(b.Messages) != 5 || b.Messages[0].Seq != 3 || b.Pending != 13 {
			t.Errorf("%s: %d messages, %d pending, %v", role, len(b.Messages), b.Pending, err)
		}
		b, err = bus.Direct(t.Context(), nc, bus.Mail, bus.Query{Seq: 1, Batch: 5})
		if role == state.Observer {
			if !errors.Is(err, bus.ErrSilence) && !errors.Is(err, bus.ErrNobody) {
				t.Errorf("the observer reads mail: %v, %v", b, err)
			}
		} else if err != nil || len(b.Messages) != 1 || string(b.Messages[0].Data) != "hello" {
			t.Errorf("%s: mail %v, %v", role, b, err)
		}
	}
}

func TestDirectQueries(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 10)...)
	publish(t, r.log, gone(3), gone(4))
	one := "peers.v1." + token + ".claude." + peer(3).Session + ".1003-31702."
	for name, tc := range map[string]struct {
		q       bus.Query
		want    []uint64
		pending uint64
	}{
		"one":                   {bus.Query{Seq: 7}, []uint64{7}, 0},
		"one that is not there": {bus.Query{Seq: 13}, nil, 0},
		"a batch":               {bus.Query{Seq: 9, Batch: 2}, []uint64{9, 10}, 2},
		"the rest":              {bus.Query{Seq: 11, Batch: 100}, []uint64{11, 12}, 0},
		"behind the end":        {bus.Query{Seq: 13, Batch: 100}, nil, 0},
		"from the beginning":    {bus.Query{Batch: 2}, []uint64{1, 2}, 10},
		"since long ago":        {bus.Query{Since: time.Unix(0, 0), Batch: 1}, []uint64{1}, 11},
		"since tomorrow":        {bus.Query{Since: time.Now().Add(24 * time.Hour), Batch: 1}, nil, 0},
		"on a subject":          {bus.Query{On: one + "*", Batch: 9}, []uint64{4, 11}, 0},
		"last on a subject":     {bus.Query{LastOn: one + "gone"}, []uint64{11}, 0},
		"last on any":           {bus.Query{LastOn: "peers.v1." + token + ".>"}, []uint64{12}, 0},
		"last on none":          {bus.Query{LastOn: one + "status"}, nil, 0},
		"last on each":          {bus.Query{LastOnEach: one + "*"}, []uint64{4, 11}, 0},
		"last on each of none":  {bus.Query{LastOnEach: "peers.v1.other.>"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := bus.Direct(t.Context(), r.nc, bus.Peers, tc.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for _, m := range b.Messages {
				got = append(got, m.Seq)
				if m.Stream != bus.Peers || !strings.HasPrefix(m.Subject, "peers.v1."+token+".") || m.Time.IsZero() || m.Garbled {
					t.Errorf("message %+v", m)
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" || b.Pending != tc.pending {
				t.Errorf("%d pending, want %d; sequences (-want +got):\n%s", b.Pending, tc.pending, d)
			}
		})
	}
}

func TestDirectErrors(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	began := time.Now()
	if _, err := bus.Direct(ctx, r.nc, "NONE", bus.Query{Seq: 1}); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("no stream: %v", err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("not asked again: %s", took)
	}
	if _, err := bus.Direct(ctx, r.nc, bus.Peers, bus.Query{LastOn: "a", Batch: 3}); !errors.Is(err, bus.ErrReply) {
		t.Errorf("a contradiction: %v", err)
	}
	over, cancel := context.WithCancelCause(ctx)
	enough := errors.New("enough")
	cancel(enough)
	if _, err := bus.Direct(over, r.nc, bus.Peers, bus.Query{Seq: 1}); !errors.Is(err, enough) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := r.nc.Subscribe("$JS.API.DIRECT.GET.MUTE", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Direct(ctx, r.nc, "MUTE", bus.Query{Seq: 1}); !errors.Is(err, bus.ErrSilence) {
		t.Errorf("no answer: %v", err)
	}
}

// Whoever has the same key can aim the answers to questions of its own at our inbox.
func TestDirectRefusesForeignAnswers(t *testing.T) {
	r := start(t)
	publish(t, r.log, appearedAll(0, 10)...)
	for name, tc := range map[string]struct{ q, foreign string }{
		"another sequence": {`{"seq":5}`, `{"seq":2}`},
		"an earlier one":   {`{"seq":5,"batch":3}`, `{"seq":2,"batch":3}`},
	} {
		rogue, err := r.nc.Subscribe("$JS.API.DIRECT.GET.ROGUE", func(m *nats.Msg) {
			if err := r.nc.PublishRequest("$JS.API.DIRECT.GET.PEERS", m.Reply, []byte(tc.foreign)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		q := bus.Query{Seq: 5}
		if strings.Contains(tc.q, "batch") {
			q.Batch = 3
		}
		if b, err := bus.Direct(t.Context(), r.nc, "ROGUE", q); !errors.Is(err, bus.ErrReply) {
			t.Errorf("%s: took %v, %v", name, b.Messages, err)
		}
		if err := rogue.Unsubscribe(); err != nil { // or it answers the next question too, even after the test
			t.Error(err)
		}
	}
}

// What a sender puts into the headers of a mail, or in their place, misleads no reader: each message has its own
// sequence and subject, or is known to be garbled and where it is.
func TestPoisonedMail(t *testing.T) {
	nc, addr := plainServer(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.EnsureStreams(t.Context(), js, "h"); err != nil {
		t.Fatal(err)
	}
	const bob = "mail.v1.q.h.claude.s.bob.1"
	stamp := "Nats-Time-Stamp: 2026-11-30T19:01:08Z\r\n"
	blocks := []string{
		"NATS/1.0\r\nMail-When: now\r\n\r\n",
		"NATS/1.0\r\nNats-Stream: PEERS\r\nNats-Sequence: 77\r\nNats-Subject: " + bob + "\r\n" + stamp + "\r\n",
		"NATS/1.0 204 EOB\r\n\r\n",
		"NATS/1.0 503\r\n\r\n",
		"NATS/1.0\r\nStatus: 404\r\n\r\n",
		"NATS/1.0\r\nNats-Stream: MAIL\r\nNats-Sequence: 77\r\nNats-Subject: " + bob + "\r\n" + stamp + "\r\nxx\r\n",
		"NATS/1.0 404 Not FoundXX",
		"NATS/1.0\r\nNats-Stream: PEERS\r\nA: bXX",
		"garbage",
		"NATS/1.0\r\nA: b\r\n\r\n",
		"garbage",
		"garbage too",
		"NATS/1.0\r\nA: b\r\n\r\n",
	}
	garbled := map[uint64]bool{6: true, 7: true, 8: true, 9: true, 11: true, 12: true}
	nowhere := uint64(11) // the first of two garbled ones in a row
	var want []bus.Message
	conn := dial(t, addr)
	for i, block := range blocks {
		seq, subject := uint64(i+1), fmt.Sprintf("mail.v1.q.h.claude.s.alice.%d", i+1)
		conn.hpub(t, subject, block, "text")
		m := bus.Message{Stream: bus.Mail, Subject: subject, Seq: seq, Data: []byte("text")}
		if garbled[seq] {
			m = bus.Message{Seq: seq, Data: []byte("text"), Garbled: true}
		}
		want = append(want, m)
	}
	conn.sync(t)
	inexact := cmp.Options{
		cmpopts.IgnoreFields(bus.Message{}, "Header", "Time"),
		cmp.FilterValues(func(a, b bus.Message) bool { return a.Garbled && b.Garbled }, cmp.Comparer(func(a, b bus.Message) bool {
			return a.Seq == b.Seq && string(a.Data) == string(b.Data) // what else it says of itself does not count
		})),
	}
	for i := range want {
		b, err := bus.Direct(t.Context(), nc, bus.Mail, bus.Query{Seq: uint64(i + 1)})
		if err != nil || len(b.Messages) != 1 {
			t.Fatalf("message %d: %d, %v", i+1, len(b.Messages), err)
		}
		if d := cmp.Diff(want[i], b.Messages[0], inexact); d != "" {
			t.Errorf("by its sequence (-want +got):\n%s", d)
		}
	}
	want[nowhere-1].Seq = 0
	b, err := bus.Direct(t.Context(), nc, bus.Mail, bus.Query{Batch: 100})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.Messages, inexact); d != "" {
		t.Errorf("in a batch (-want +got):\n%s", d)
	}
}

// plainServer is a server without accounts, for what only a raw connection can send.
func plainServer(t *testing.T) (*nats.Conn, string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	nc, err := nats.Connect(s.ClientURL(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, s.Addr().String()
}

// rawConn speaks the protocol by itself.
type rawConn struct{ net.Conn }

func dial(t *testing.T, addr string) rawConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	raw := rawConn{c}
	raw.write(t, "CONNECT {\"headers\":true,\"verbose\":false,\"no_responders\":true}\r\n")
	return raw
}

func (c rawConn) write(t *testing.T, s string) {
	t.Helper()
	if _, err := c.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

func (c rawConn) hpub(t *testing.T, subject, block, data string) {
	t.Helper()
	c.write(t, fmt.Sprintf("HPUB %s %d %d\r\n%s%s\r\n", subject, len(block), len(block)+len(data), block, data))
}

// sync waits until the server has taken all that was written.
func (c rawConn) sync(t *testing.T) {
	t.Helper()
	c.write(t, "PING\r\n")
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "PONG"); {
		buf := make([]byte, 4096)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
		said += string(buf[:n])
	}
}
