package attack

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"peerbus/internal/state"
)

// worker is a role at its work.
type worker struct {
	*nats.Conn
	t    *testing.T
	role string
	js   jetstream.JetStream
}

// TestEveryRoleCanWork is the other half of the table: what each role is there for goes through, and nothing of
// it is refused.
func TestEveryRoleCanWork(t *testing.T) {
	w := shipped(t)
	alice, observer, mailer := w.at(t, "s-alice"), w.at(t, state.Observer), w.at(t, state.Mailer)
	events, receipts, notes := observer.hears("peers.v1.>"), alice.hears("mail.v1.log.*.alice.*"), mailer.hears("note.mail.v1.>")

	for _, asker := range []worker{alice, observer, mailer} {
		for _, question := range []string{"occupied", "snapshot", "why", "status"} {
			asker.gets("watcher.v1.laptop."+question, "?", "answer to watcher.v1.laptop."+question)
		}
		asker.gets("core.DIRECT.GET.PEERS", `{"last_by_subj":"`+firstEvent+`"}`, "known to all")
		asker.gets("core.DIRECT.GET.PEERS", `{"seq":1,"batch":10}`, "known to all")
	}
	alice.gets("watcher.v1.laptop.mail.alice", "?", "answer to watcher.v1.laptop.mail.alice")
	alice.gets("core.DIRECT.GET.MAILLOG."+alicesLog, "", "known to all")

	alice.queues("mail.v1.q.laptop.claude.sess.alice.2", "hello")
	arrives(t, notes, "note.mail.v1.q.laptop.claude.sess.alice.2")
	alice.queues("mail.v1.c.laptop.alice.2", "")
	arrives(t, notes, "note.mail.v1.c.laptop.alice.2")

	mailer.gets("core.DIRECT.GET.MAIL", `{"last_by_subj":"mail.v1.q.laptop.claude.sess.alice.2"}`, "hello")
	mailer.gets("core.DIRECT.GET.MAIL", `{"seq":1,"batch":10}`, secret)
	mailer.gets("core.DIRECT.GET.MAILCTL", `{"seq":1,"batch":10}`, secret)
	mailer.gets("core.DIRECT.GET.MAILLOG", `{"last_by_subj":"`+bobsLog+`"}`, secret)
	mailer.appends("mail.v1.log.laptop.alice.2", 0, "claimed")
	if m := arrives(t, receipts, "mail.v1.log.laptop.alice.2"); string(m.Data) != "claimed" {
		t.Errorf("alice hears the receipt %q", m.Data)
	}
	mailer.gets("core.STREAM.MSG.DELETE.MAIL", `{"seq":2,"no_erase":true}`, `"success":true`)

	if _, err := w.js.Publish(t.Context(), "ingest.peers.v1.laptop.claude.sess.7-7.gone", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	arrives(t, events, "peers.v1.laptop.claude.sess.7-7.gone")
}

// Two mailers race for a claim: the log takes the first, and the second is told, and nobody hears it.
func TestOneClaimIsTaken(t *testing.T) {
	w := shipped(t)
	one, two, alice := w.at(t, state.Mailer), w.at(t, state.Mailer), w.at(t, "s-alice")
	receipts := alice.hears("mail.v1.log.*.alice.*")
	one.appends("mail.v1.log.laptop.alice.2", 0, "claimed")
	_, err := two.publish("ingest.mail.v1.log.laptop.alice.2", "claimed, too", jetstream.WithExpectLastSequenceForSubject(0, "mail.v1.log.laptop.alice.2"))
	code(t, err, jetstream.JSErrCodeStreamWrongLastSequence)
	one.appends("mail.v1.log.laptop.alice.3", 0, "claimed")
	arrives(t, receipts, "mail.v1.log.laptop.alice.2")
	arrives(t, receipts, "mail.v1.log.laptop.alice.3") // and none in between
}

// A queued id is taken: no second mail is stored under it, and nobody else can use it up.
func TestOneMailAnID(t *testing.T) {
	w := shipped(t)
	alice, bob := w.at(t, "s-alice"), w.at(t, "s-bob")
	const subject = "mail.v1.q.laptop.claude.sess.alice.2"
	_, err := alice.publish(subject, "hello", jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithMsgID("bob/7"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = alice.publish(subject, "again", jetstream.WithExpectLastSequencePerSubject(0))
	code(t, err, jetstream.JSErrCodeStreamWrongLastSequence)
	bob.queues("mail.v1.q.laptop.claude.sess.bob.7", "hi")
}

func (w *world) at(t *testing.T, role string) worker {
	t.Helper()
	nc := w.as(t, role, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		t.Errorf("%s is refused: %v", role, err)
	}))
	js, err := jetstream.NewWithAPIPrefix(nc, "core")
	if err != nil {
		t.Fatal(err)
	}
	return worker{nc, t, role, js}
}

// gets asks and wants an answer that has those words.
func (w worker) gets(subject, question, words string) {
	w.t.Helper()
	m, err := w.Request(subject, []byte(question), 5*time.Second)
	if err != nil {
		w.t.Errorf("%s asks %s: %v", w.role, subject, err)
		return
	}
	if !strings.Contains(string(m.Data), words) {
		w.t.Errorf("%s asks %s %s: %v %q, want %q", w.role, subject, question, m.Header, m.Data, words)
	}
}

func (w worker) publish(subject, body string, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	return w.js.Publish(w.t.Context(), subject, []byte(body), opts...)
}

func (w worker) queues(subject, body string) {
	w.t.Helper()
	if ack, err := w.publish(subject, body, jetstream.WithExpectLastSequencePerSubject(0)); err != nil || ack.Duplicate {
		w.t.Errorf("%s queues on %s: %v, %v", w.role, subject, ack, err)
	}
}

func (w worker) appends(subject string, last uint64, body string) {
	w.t.Helper()
	if _, err := w.publish("ingest."+subject, body, jetstream.WithExpectLastSequenceForSubject(last, subject)); err != nil {
		w.t.Errorf("%s appends to %s: %v", w.role, subject, err)
	}
}

func (w worker) hears(subject string) <-chan *nats.Msg {
	w.t.Helper()
	c := make(chan *nats.Msg, 100)
	if _, err := w.ChanSubscribe(subject, c); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// arrives wants the next message to be one on that subject.
func arrives(t *testing.T, c <-chan *nats.Msg, subject string) *nats.Msg {
	t.Helper()
	select {
	case m := <-c:
		if m.Subject != subject {
			t.Errorf("heard %s, want %s", m.Subject, subject)
		}
		return m
	case <-time.After(10 * time.Second): // far more than a busy machine needs
		t.Fatalf("nothing heard on %s", subject)
		panic("unreachable")
	}
}

func code(t *testing.T, err error, want jetstream.ErrorCode) {
	t.Helper()
	if refused, ok := errors.AsType[*jetstream.APIError](err); !ok || refused.ErrorCode != want {
		t.Errorf("answered %v, want error %d", err, want)
	}
}

// What the streams would do at a header's word, if they were set otherwise.
func TestStreamsTakeNoOrders(t *testing.T) {
	w := shipped(t)
	alice := w.at(t, "s-alice")
	before := w.contents(t)
	for i, header := range []nats.Header{
		{"Nats-Rollup": {"all"}},
		{"Nats-Rollup": {"sub"}},
		{"Nats-TTL": {"1s"}},
		{"Nats-Incr": {"1"}},
		{"Nats-Schedule": {"@at 2030-01-01T00:00:00Z"}, "Nats-Schedule-Target": {bobsMail}},
		{"Nats-Batch-Id": {"x"}, "Nats-Batch-Sequence": {"1"}, "Nats-Batch-Commit": {"1"}},
	} {
		m := &nats.Msg{Subject: "mail.v1.q.laptop.claude.sess.alice." + string(rune('a'+i)), Header: header}
		answer, err := alice.RequestMsg(m, 5*time.Second)
		if err != nil {
			t.Errorf("%v: %v", header, err)
			continue
		}
		var ack struct {
			Error *jetstream.APIError `json:"error"`
		}
		if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Error == nil {
			t.Errorf("%v is taken: %s", header, answer.Data)
		}
	}
	for _, effect := range changed(before, w.contents(t), nil) {
		t.Error(effect)
	}
}

// The effects that no configuration prevents; those who read must know of them.
func TestEffectsLeft(t *testing.T) {
	t.Run("one key is one account", func(t *testing.T) {
		w := shipped(t)
		one, two := w.at(t, state.Observer), w.at(t, state.Observer)
		events := two.hears("peers.v1.>")
		const forged = "peers.v1.laptop.claude.sess.7-7.gone"
		if err := one.PublishRequest("watcher.v1.laptop.status", forged, nil); err != nil {
			t.Fatal(err)
		}
		if m := arrives(t, events, forged); m.Header.Get("Nats-Stream") != "" {
			t.Errorf("the forged event looks stored: %v", m.Header)
		}
	})
	t.Run("wildcards are stored", func(t *testing.T) {
		w := shipped(t)
		alice := w.at(t, "s-alice")
		for _, subject := range []string{"mail.v1.q.laptop.*.sess.alice.1", "mail.v1.q.laptop.claude.>.alice.1", "mail.v1.q.laptop.claude.sess.alice.*"} {
			alice.queues(subject, "hello")
		}
	})
}
