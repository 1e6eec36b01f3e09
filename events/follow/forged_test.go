package follow_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/events/follow"
	"peerbus/internal/bus"
	"peerbus/internal/state"
)

// A second connection with the mailer's key aims what it may read at the subject of an event: mails, whose text looks
// like the next event of the log, and whose sender gave them headers to match. Nothing of it is told.
func TestForgedEventsAreNotTold(t *testing.T) {
	r := start(t)
	nc := r.connect(t, state.Mailer)
	fl := r.follow(t, nc, follow.Filter{})
	_, seq := fl.ready()
	aim := "peers.v1." + token + ".claude.s.1-1.gone"
	heard := make(chan *nats.Msg, 10)
	if _, err := nc.ChanSubscribe(aim, heard); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	forged := events.Stamp(gone(1), events.Meta{ID: "forged", Host: host, Epoch: r.epoch})
	text, err := events.Encode(forged)
	if err != nil {
		t.Fatal(err)
	}
	sender, rogue := r.connect(t, state.SenderRole(state.LocalSender)), r.connect(t, state.Mailer)
	for n, header := range []nats.Header{
		nil,
		{"Nats-Stream": {bus.Peers}, "Nats-Subject": {aim}, "Nats-Sequence": {fmt.Sprint(seq + 1)}, "Nats-Time-Stamp": {"2026-11-30T19:01:08Z"}},
	} {
		mail := &nats.Msg{Subject: fmt.Sprintf("mail.v1.q.%s.claude.s.local.%d", token, n), Header: header, Data: text}
		if _, err := sender.RequestMsg(mail, patience); err != nil {
			t.Fatal(err)
		}
		if err := rogue.PublishRequest("core.DIRECT.GET.MAIL", aim, fmt.Appendf(nil, `{"seq":%d}`, n+1)); err != nil {
			t.Fatal(err)
		}
		if m := <-heard; string(m.Data) != string(text) {
			t.Fatalf("heard %q", m.Data)
		}
	}
	fl.events(r.publish(t, appeared(1), gone(1)))
}
