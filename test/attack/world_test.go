package attack

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/embedded"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

const host = "laptop"

// secret is in bob's mail and in bob's receipt.
const secret = "between bob and his peer"

// The subjects of what is there before the attack.
const (
	bobsMail   = "mail.v1.q.laptop.claude.sess.bob.1"
	bobsLog    = "mail.v1.log.laptop.bob.1"
	alicesLog  = "mail.v1.log.laptop.alice.1"
	firstEvent = "peers.v1.laptop.claude.sess.7-7.appeared"
)

// world is a server with streams, a service, and something in each stream.
type world struct {
	// api is the prefix under which a client has the JetStream API.
	api     string
	weak    bool
	connect func(role string, opts ...nats.Option) (*nats.Conn, error)
	js      jetstream.JetStream // the operator's
}

// shipped is the server as it is; all roles but the watcher's own come over TCP and TLS.
func shipped(t *testing.T) *world {
	t.Helper()
	d, err := state.Claim(filepath.Join(t.TempDir(), "state"), state.Claiming{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	s, err := embedded.Start(t.Context(), embedded.Options{State: d, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	for _, name := range []string{"alice", "bob"} {
		if err := s.AddSender(name); err != nil {
			t.Fatal(err)
		}
	}
	connect := func(role string, opts ...nats.Option) (*nats.Conn, error) {
		if role == embedded.Watcher || role == embedded.Responder {
			return s.Connect(role, opts...)
		}
		key, err := nats.NkeyOptionFromSeed(d.KeyPath(role))
		if err != nil {
			return nil, err
		}
		own := []nats.Option{key, nats.RootCAs(s.CA()), nats.CustomInboxPrefix("_INBOX." + role)}
		return nats.Connect(s.URL(), append(own, opts...)...)
	}
	return furnished(t, &world{api: "core.", connect: connect})
}

// weak is a server with the same streams in one account in which everybody may do everything.
func weak(t *testing.T) *world {
	t.Helper()
	o := &server.Options{
		ServerName: host, DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
		JetStreamMaxMemory: 32 << 20, JetStreamMaxStore: 1 << 30,
	}
	ns, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("the weak server is not ready")
	}
	connect := func(role string, opts ...nats.Option) (*nats.Conn, error) {
		own := []nats.Option{nats.InProcessServer(ns), nats.CustomInboxPrefix("_INBOX." + role)}
		return nats.Connect("", append(own, opts...)...)
	}
	return furnished(t, &world{api: "$JS.API.", weak: true, connect: connect})
}

// as connects a role until the end of the test.
func (w *world) as(t *testing.T, role string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := w.connect(role, opts...)
	if err != nil {
		t.Fatalf("connect %s: %v", role, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func furnished(t *testing.T, w *world) *world {
	t.Helper()
	js, err := jetstream.New(w.as(t, state.Operator))
	if err != nil {
		t.Fatal(err)
	}
	w.js = js
	if _, err := bus.EnsureStreams(t.Context(), js, host); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"ingest." + firstEvent, bobsMail, "mail.v1.c.laptop.bob.1", "ingest." + bobsLog, "ingest." + alicesLog} {
		body := secret
		if strings.Contains(subject, "alice") || strings.Contains(subject, "peers") {
			body = "known to all"
		}
		if _, err := js.Publish(t.Context(), subject, []byte(body)); err != nil {
			t.Fatalf("publish on %s: %v", subject, err)
		}
	}
	w.answer(t)
	return w
}

// answer runs the watcher's service, as far as an attacker can tell.
func (w *world) answer(t *testing.T) {
	t.Helper()
	nc := w.as(t, embedded.Responder)
	for _, subject := range []string{"watcher.v1.laptop.*", "watcher.v1.laptop.mail.*"} {
		_, err := nc.Subscribe(subject, func(m *nats.Msg) {
			answer := "answer to " + m.Subject
			if strings.HasSuffix(m.Subject, ".bob") {
				answer = secret
			}
			if m.Reply != "" {
				m.Respond([]byte(answer)) // an attacker's reply subject may be anything, so it may fail
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// contents is what the streams hold and how they are set, by "<stream> <what>".
func (w *world) contents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	list := w.js.ListStreams(t.Context())
	for info := range list.Info() {
		name := info.Config.Name
		config, err := json.Marshal(info.Config)
		if err != nil {
			t.Fatal(err)
		}
		found[name+" config"] = string(config)
		found[name+" consumers"] = fmt.Sprint(info.State.Consumers)
		stream, err := w.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		if err != nil {
			t.Fatal(err)
		}
		for subject, n := range info.State.Subjects {
			m, err := stream.GetLastMsgForSubject(t.Context(), subject)
			if err != nil { // a literal wildcard in a subject
				found[name+" "+subject] = fmt.Sprint(n)
				continue
			}
			found[name+" "+subject] = fmt.Sprintf("%d×, last %d: %.60q", n, m.Sequence, m.Data)
		}
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
