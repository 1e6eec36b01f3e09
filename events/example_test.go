package events_test

import (
	"errors"
	"fmt"

	"peerbus/events"
)

// A subscriber decodes each message, skips the types that it does not know, and acts on the others; every event about
// a peer carries the whole peer.
func ExampleDecode() {
	messages := []string{
		`{"type":"PeerAppeared","id":"01995c1e-6a51-7cc3-98c4-dc0c0c07398f","time":"2026-11-30T19:00:17.544Z","host":"laptop","epoch":"7f3a",
		  "peer":{"harness":"claude","session":"25c49259-5cd0-4744-a158-5d764d50082a","pid":6540,"start":"31702",
		    "name":"proj-93","status":"busy","addressable":true}}`,
		`{"type":"SomethingOfALaterVersion","host":"laptop"}`,
		`{"type":"StatusChanged","id":"01995c1e-91e6-7df5-87dc-95ff9b37ea9c","time":"2026-11-30T19:01:08.446Z","host":"laptop","epoch":"7f3a",
		  "peer":{"harness":"claude","session":"25c49259-5cd0-4744-a158-5d764d50082a","pid":6540,"start":"31702",
		    "name":"proj-93","status":"waiting","waiting_for":"permission prompt","addressable":true},
		  "was":{"status":"busy","waiting_for":null}}`,
	}
	for _, m := range messages {
		e, err := events.Decode([]byte(m))
		if errors.Is(err, events.ErrUnknownType) {
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e := e.(type) {
		case events.PeerAppeared:
			fmt.Println(e.Meta.Time, e.Peer.Name, "is there and", e.Peer.Status)
		case events.StatusChanged:
			fmt.Println(e.Meta.Time, e.Peer.Name, "was", e.Was.Old.Status, "and is", e.Peer.Status, "for a", e.Peer.WaitingFor)
		}
	}
	// Output:
	// 2026-11-30T19:00:17.544Z proj-93 is there and busy
	// 2026-11-30T19:01:08.446Z proj-93 was busy and is waiting for a permission prompt
}

// The fold of the log, in the order of its sequence, is what is there.
func ExampleView_Apply() {
	first := events.Peer{Harness: events.Claude, Session: "s1", PID: 6540, Start: "31702", Status: events.Busy}
	second := events.Peer{Harness: events.Claude, Session: "s2", PID: 6541, Start: "31800", Status: events.Busy}
	idle := second
	idle.Status = events.Idle

	host := events.Meta{Host: "laptop"}
	view := events.View{}
	for i, e := range []events.Event{
		events.PeerAppeared{Meta: host, Peer: first},
		events.PeerAppeared{Meta: host, Peer: second},
		events.StatusChanged{Meta: host, Peer: idle, Was: events.Was{Fields: []string{"status"}, Old: events.Peer{Status: events.Busy}}},
		events.PeerGone{Meta: host, Peer: first, Reason: events.Exited},
	} {
		view.Apply(uint64(i+1), e)
	}
	for _, id := range view.IDs() {
		fmt.Println(id.Session, view[id].Peer().Status, "since message", view[id].Seq)
	}
	// Output:
	// s2 idle since message 3
}

// Names stand in subjects as tokens, so that a host or a session may be called anything.
func ExampleToken() {
	fmt.Println(events.Token("laptop"))
	fmt.Println(events.Token("my.host"))
	fmt.Println(events.Token("*"))
	fmt.Println(events.Token(""))
	fmt.Println("peers.v1." + events.Token("my.host") + ".claude.>")
	// Output:
	// laptop
	// my=2Ehost
	// =2A
	// =
	// peers.v1.my=2Ehost.claude.>
}

func ExampleEndpoint() {
	fmt.Println(events.Endpoint{PID: 6540, Name: "proj: 50%", Socket: "/tmp/cc-socks/6540.sock"})
	// Output:
	// cc-peer:v1:6540:proj%3A 50%25:/tmp/cc-socks/6540.sock
}

// What comes back is looked up again: an endpoint says where a peer was, not that it is there.
func ExampleParseEndpoint() {
	e, err := events.ParseEndpoint("cc-peer:v1:6540:proj%3A 50%25:/tmp/cc-socks/6540.sock")
	fmt.Println(e.PID, e.Name, e.Socket, err)

	_, err = events.ParseEndpoint("cc-peer:v1:6540:proj")
	fmt.Println(err)
	// Output:
	// 6540 proj: 50% /tmp/cc-socks/6540.sock <nil>
	// not a cc-peer:v1 endpoint: "cc-peer:v1:6540:proj"
}
