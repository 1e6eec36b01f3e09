package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"peerbus/internal/state"
)

// The keys of the roles within the process open nothing to a program that got hold of them.
func TestWatcherKeyOverTCP(t *testing.T) {
	s := running(t, claimed(t), "")
	for _, role := range []string{Watcher, Responder} {
		mustConnect(t, s, role)
		nc, err := nats.Connect(s.URL(), nats.RootCAs(s.CA()), nats.Nkey(s.users[role], s.keys[role].Sign))
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s over TCP: %v", role, err)
		}
		if nc != nil {
			nc.Close()
		}
	}
}

func TestUnknownKey(t *testing.T) {
	s := running(t, claimed(t), "")
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := stranger.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, opts := range map[string][]nats.Option{
		"no key":          nil,
		"a new key":       {nats.Nkey(public, stranger.Sign)},
		"another's name":  {nats.Nkey(s.users[state.Operator], stranger.Sign)},
		"a user and word": {nats.UserInfo("operator", "operator")},
	} {
		nc, err := nats.Connect(s.URL(), append(opts, nats.RootCAs(s.CA()))...)
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", name, err)
		}
		if nc != nil {
			nc.Close()
		}
	}
}

// A program that took the port while the watcher was down has another certificate, or none.
func TestSquatterIsRefused(t *testing.T) {
	d := claimed(t)
	ours := running(t, d, "")
	addr := strings.TrimPrefix(ours.URL(), "tls://")
	ours.Shutdown()

	other := running(t, claimed(t), addr)
	if _, err := dial(ours, state.Observer); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a squatter with a certificate of its own: %v", err)
	}
	other.Shutdown()

	squat, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := squat.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":\"2.15.3\",\"max_payload\":1048576,\"nonce\":\"abc\"}\r\n")
			bufio.NewReader(c).ReadString('\n') // until the client has left
			c.Close()
		}
	}()
	if _, err := dial(ours, state.Observer); !errors.Is(err, nats.ErrSecureConnWanted) {
		t.Errorf("a squatter without TLS: %v", err)
	}
	squat.Close()
	<-done
}

func TestPlainClientIsRefused(t *testing.T) {
	s := running(t, claimed(t), "")
	for name, request := range map[string]string{
		"without TLS": "CONNECT {\"verbose\":false}\r\nPING\r\n",
		"a web page":  "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\nCONNECT {}\r\nPUB mail.v1.q.laptop.claude.s.local.1 2\r\nhi\r\nPING\r\n",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "tls://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if errors.Is(err, net.ErrClosed) || strings.Contains(string(answer), "PONG") {
			t.Errorf("%s: answered %q, %v", name, answer, err)
		}
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			t.Errorf("%s: not cut off", name)
		}
	}
}

func TestConnectionsEndWithTheServer(t *testing.T) {
	s := running(t, claimed(t), "")
	var all []*nats.Conn
	for _, role := range []string{Watcher, Responder, state.Observer, state.Mailer, state.Operator, "s-local"} {
		nc := mustConnect(t, s, role)
		if want := "_INBOX." + role + "."; !strings.HasPrefix(nc.NewInbox(), want) {
			t.Errorf("%s has inbox %s, want %s…", role, nc.NewInbox(), want)
		}
		all = append(all, nc)
	}
	for _, role := range []string{"", "nobody", "s-nobody"} {
		if _, err := s.Connect(role); err == nil {
			t.Errorf("%q connects", role)
		}
	}
	s.Shutdown()
	for _, nc := range all {
		if !nc.IsClosed() {
			t.Errorf("%s is %v", nc.Opts.Name, nc.Status())
		}
	}
}
