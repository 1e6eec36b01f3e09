package attack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/embedded"
	"peerbus/internal/state"
)

// quiet is how long nothing more may have come before a table is taken as finished. Everything that an attack brings
// about has by then been waited for by round trips; this is for what the server does on its own time.
const quiet = 100 * time.Millisecond

// ear is what all who listen have heard.
type ear struct {
	mu    sync.Mutex
	heard []heard
}

type heard struct {
	who string
	m   *nats.Msg
}

func (e *ear) listen(t *testing.T, nc *nats.Conn, who, subject string) {
	t.Helper()
	_, err := nc.Subscribe(subject, func(m *nats.Msg) { e.hear(who, m) })
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatalf("%s listens on %s: %v", who, subject, err)
	}
}

func (e *ear) hear(who string, m *nats.Msg) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, heard{who, m})
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

// attack makes the tries as role and answers their effects, as a person would be told them: what others heard, what
// the attacker got to know, and what is otherwise in the streams.
func (w *world) attack(t *testing.T, role string, tries []try) []string {
	t.Helper()
	var others, own ear
	w.plant(t, role, &others)
	before := w.contents(t)

	nc := w.as(t, role, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // refusals come here
	own.listen(t, nc, role, "_INBOX."+role+".>")
	for _, try := range tries {
		do(t, nc, try, &own)
	}
	if err := nc.Flush(); err != nil {
		t.Fatalf("%s was cut off: %v", role, err)
	}
	w.live(t)
	w.roundTrips(t)
	settle(&others, &own)

	sent := map[string]string{}
	for _, try := range tries {
		if try.right {
			sent[inCore(try.subject, w.api)] = try.payload
		}
	}
	effects := arrived(&others, sent)
	effects = append(effects, learned(&own, role)...)
	return append(effects, changed(before, w.contents(t), sent)...)
}

// plant has somebody listen on every target within CORE, and the other roles on all that they may.
func (w *world) plant(t *testing.T, attacker string, e *ear) {
	t.Helper()
	core := w.as(t, state.Operator)
	for _, target := range targets {
		e.listen(t, core, "CORE", target)
	}
	watcher := w.as(t, embedded.Watcher)
	e.listen(t, watcher, "watcher", "_INBOX.watcher.>")
	for role, subjects := range map[string][]string{
		"s-bob":        {"_INBOX.s-bob.>", "peers.v1.>", "mail.v1.log.*.bob.*"},
		state.Observer: {"_INBOX.observer.>", "peers.v1.>"},
		state.Mailer:   {"_INBOX.mailer.>", "peers.v1.>", "note.mail.v1.>"},
	} {
		if role == attacker {
			continue // one key, one account: its own connections hear each other
		}
		nc := w.as(t, role)
		for _, subject := range subjects {
			e.listen(t, nc, role, subject)
		}
	}
}

func do(t *testing.T, nc *nats.Conn, try try, own *ear) {
	t.Helper()
	var err error
	switch m := (&nats.Msg{Subject: try.subject, Reply: try.reply, Data: []byte(try.payload), Header: try.header}); {
	case try.subscribe:
		_, err = nc.QueueSubscribe(try.subject, try.queue, func(m *nats.Msg) { own.hear("SUB "+try.subject, m) })
	default:
		err = nc.PublishMsg(m)
	}
	if err != nil {
		t.Fatalf("%v: %v", try, err)
	}
}

// live has the others do what they do, for the attacker to overhear. All that comes of it ends with "live".
func (w *world) live(t *testing.T) {
	t.Helper()
	for role, subjects := range map[string][]string{
		"s-bob":      {"watcher.v1.laptop.mail.bob", "watcher.v1.laptop.snapshot", "mail.v1.q.laptop.claude.sess.bob.live", "mail.v1.c.laptop.bob.live"},
		state.Mailer: {"ingest.mail.v1.log.laptop.bob.live"},
	} {
		nc := w.as(t, role)
		inbox := "_INBOX." + role + ".live"
		answers, err := nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range subjects {
			if err := nc.PublishRequest(subject, inbox, []byte(secret+", live")); err != nil {
				t.Fatal(err)
			}
			if _, err := answers.NextMsg(time.Second); err != nil {
				w.dead(t, subject, err)
			}
		}
	}
}

// roundTrips wait until the server's queues have passed what was in them.
func (w *world) roundTrips(t *testing.T) {
	t.Helper()
	nc := w.js.Conn()
	for _, stream := range []string{"PEERS", "MAIL", "MAILCTL", "MAILLOG"} {
		for _, subject := range []string{"$JS.API.STREAM.INFO." + stream, "$JS.API.DIRECT.GET." + stream} {
			if _, err := nc.Request(subject, []byte(`{"seq":1}`), time.Second); err != nil {
				w.dead(t, subject, err)
			}
		}
	}
}

// dead notes that nobody answers on subject any more. In the weak world the attacker may have destroyed anything.
func (w *world) dead(t *testing.T, subject string, err error) {
	t.Helper()
	if w.weak {
		t.Logf("after the attack %s: %v", subject, err)
		return
	}
	t.Errorf("after the attack %s: %v", subject, err)
}

func settle(ears ...*ear) {
	total := func() (n int) {
		for _, e := range ears {
			n += e.count()
		}
		return n
	}
	for n := -1; n != total(); {
		n = total()
		<-time.After(quiet)
	}
}

// inCore is a local subject as it is in CORE.
func inCore(subject, api string) string {
	if rest, ok := strings.CutPrefix(subject, api); ok {
		return "$JS.API." + rest
	}
	return subject
}

// byRight tells whether a message that others heard came by what the attacker or the others may do.
func byRight(m *nats.Msg, sent map[string]string) bool {
	if strings.HasSuffix(m.Subject, ".live") || strings.HasSuffix(string(m.Data), ", live") {
		return true
	}
	stored := func(stream, subject string) bool {
		_, ok := sent[subject]
		return ok && m.Header.Get("Nats-Stream") == stream
	}
	switch {
	case strings.HasPrefix(m.Subject, "note.mail.v1.q."):
		return stored("MAIL", strings.TrimPrefix(m.Subject, "note."))
	case strings.HasPrefix(m.Subject, "note.mail.v1.c."):
		return stored("MAILCTL", strings.TrimPrefix(m.Subject, "note."))
	case strings.HasPrefix(m.Subject, "mail.v1.log."):
		return stored("MAILLOG", "ingest."+m.Subject)
	}
	payload, ok := sent[m.Subject]
	return ok && payload == string(m.Data)
}

func arrived(others *ear, sent map[string]string) []string {
	others.mu.Lock()
	defer others.mu.Unlock()
	var effects []string
	for _, h := range others.heard {
		if !byRight(h.m, sent) {
			effects = append(effects, fmt.Sprintf("%s heard %s %v %.80q", h.who, h.m.Subject, h.m.Header, h.m.Data))
		}
	}
	return effects
}

// learned is what came to the attacker: by a subscription that is not its right, with what is bob's, or as the answer
// to a request that is not its right. An error is no answer.
func learned(own *ear, role string) []string {
	own.mu.Lock()
	defer own.mu.Unlock()
	var effects []string
	for _, h := range own.heard {
		text := string(h.m.Data)
		refused := strings.Contains(text, `"error":`) || h.m.Header.Get("Status") != ""
		bobs := strings.Contains(text, secret) && role != state.Mailer
		if strings.HasPrefix(h.who, "SUB ") || bobs || h.m.Subject == answersOf(role) && !refused {
			effects = append(effects, fmt.Sprintf("the attacker got by %s: %s %v %.80q", h.who, h.m.Subject, h.m.Header, text))
		}
	}
	return effects
}

// changed is what is otherwise in the streams, but for what the attacker and the others may store.
func changed(before, after, sent map[string]string) []string {
	var effects []string
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		_, subject, _ := strings.Cut(key, " ")
		_, mine := sent[subject]
		_, appended := sent["ingest."+subject]
		if before[key] == after[key] || strings.HasSuffix(key, ".live") || (mine || appended) && before[key] == "" {
			continue
		}
		effects = append(effects, fmt.Sprintf("%s was %.200q, is %.200q", key, before[key], after[key]))
	}
	return effects
}
