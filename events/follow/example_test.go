package follow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"peerbus/events"
	"peerbus/events/follow"
)

// A program keeps its own picture of who is there. When events are lost it forgets the picture, since what is there is
// then told anew.
func ExampleFollow() {
	watcher := startExample() // elsewhere: what server.json in the watcher's state folder says, and keys/observer.nk
	defer watcher.stop()
	key, err := nats.NkeyOptionFromSeed(watcher.keyFile)
	if err != nil {
		fmt.Println(err)
		return
	}
	nc, err := nats.Connect(watcher.url, key, nats.RootCAs(watcher.caFile), nats.CustomInboxPrefix("_INBOX.observer"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nc.Close()

	there := make(events.View)
	seen := errors.New("seen enough")
	err = follow.Follow(context.Background(), nc, follow.Filter{Harness: events.Claude}, func(c follow.Change) error {
		switch {
		case c.Lost != nil:
			clear(there)
			return nil
		case c.Ready:
			fmt.Println("there now:", len(there))
			watcher.sees()
			return nil
		}
		there.Apply(c.Seq, c.Event)
		switch e := c.Event.(type) {
		case events.PeerAppeared:
			fmt.Println(e.Peer.Name, "is", e.Peer.Status)
		case events.StatusChanged:
			fmt.Println(e.Peer.Name, "was", e.Was.Old.Status, "and is", e.Peer.Status)
		case events.PeerGone:
			fmt.Println(e.Peer.Name, "is gone:", e.Reason)
			return seen
		}
		return nil
	})
	fmt.Println(err)
	fmt.Println("there now:", len(there))
	// Output:
	// api is idle
	// there now: 1
	// api was idle and is busy
	// api is gone: exited
	// seen enough
	// there now: 0
}
