package embedded

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/internal/state"
)

// One reload would let a new sender in and leave it unable to ask anything.
func TestSenderIsAddedAtOnce(t *testing.T) {
	s := running(t, claimed(t), "")
	answer(t, s)
	var cut atomic.Int32
	others := []*nats.Conn{
		mustDial(t, s, state.Observer, nats.DisconnectErrHandler(func(*nats.Conn, error) { cut.Add(1) })),
		mustDial(t, s, "s-local", nats.DisconnectErrHandler(func(*nats.Conn, error) { cut.Add(1) })),
	}
	for _, name := range []string{"bob", "a-b", "0"} {
		if err := s.AddSender(name); err != nil {
			t.Fatal(err)
		}
		nc := mustDial(t, s, state.SenderRole(name))
		if m, err := nc.Request("watcher.v1.laptop.status", nil, 5*time.Second); err != nil || string(m.Data) != "yes" {
			t.Errorf("%s asks: %v, %v", name, m, err)
		}
		if _, err := nc.Request("watcher.v1.laptop.mail."+name, nil, 5*time.Second); err != nil {
			t.Errorf("%s asks for its mail: %v", name, err)
		}
	}
	if err := s.AddSender("bob"); err != nil {
		t.Errorf("added again: %v", err)
	}
	if err := s.AddSender("No"); !errors.Is(err, state.ErrSender) {
		t.Errorf("an illegal name: %v", err)
	}
	for _, nc := range others {
		if _, err := nc.Request("watcher.v1.laptop.status", nil, 5*time.Second); err != nil {
			t.Errorf("%s asks: %v", nc.Opts.InboxPrefix, err)
		}
	}
	if n := cut.Load(); n != 0 {
		t.Errorf("%d of the others were cut", n)
	}
}

func TestSenderIsRemoved(t *testing.T) {
	s := running(t, claimed(t), "")
	if err := s.AddSender("bob"); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{}, 1)
	pair, err := s.dir.KeyPair("s-bob")
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	nc := mustDial(t, s, "s-bob", nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { gone <- struct{}{} }))
	if err := s.RemoveSender("bob"); err != nil {
		t.Fatal(err)
	}
	arrives(t, gone, "end of the removed sender's connection")
	nc.Close()
	if _, err := nats.Connect(s.URL(), nats.Nkey(public, pair.Sign), nats.RootCAs(s.CA())); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("the removed key connects: %v", err)
	}
	mustDial(t, s, "s-local")
	if err := s.AddSender("bob"); err != nil {
		t.Fatal(err)
	}
	mustDial(t, s, "s-bob")
}

// answer answers every question, as the responder that the watcher's service has.
func answer(t *testing.T, s *Server) {
	t.Helper()
	nc := mustConnect(t, s, Responder)
	for _, subject := range []string{"watcher.v1.laptop.*", "watcher.v1.laptop.mail.*"} {
		if _, err := nc.Subscribe(subject, func(m *nats.Msg) { m.Respond([]byte("yes")) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}
