//go:build unix

package readme

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// tryContext also runs the line again: who has the contexts keeps them.
func tryContext(t *testing.T, w *world, line string) {
	says(t, "writes the contexts peerbus-observer and peerbus-local")
	for range 2 {
		w.run(t, line).ends(0)
		for _, name := range []string{"peerbus-observer.json", "peerbus-local.json"} {
			if _, err := os.Stat(filepath.Join(w.config(), "nats", "context", name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// needsNATS skips the test where there is no nats command, and writes the context for it.
func needsNATS(t *testing.T, w *world) {
	t.Helper()
	if natsCLI() == "" {
		t.Skip("PEERBUS_NATS_CLI does not name the folder of the nats command")
	}
	if _, err := os.Stat(filepath.Join(natsCLI(), "nats")); err != nil {
		t.Fatal(err)
	}
	w.run(t, "watcher nats-context").ends(0)
}

func trySub(t *testing.T, w *world, line string) {
	needsNATS(t, w)
	sub := w.run(t, line)
	w.happens(t, "sub prints it", func() error { return sub.printed(`^\{"type":"StatusChanged",.*"name":"proj-93"`) })
	says(t, "the header `Nats-Sequence` tells")
	if err := sub.printed(`^Nats-Sequence: [0-9]+$`); err != nil {
		t.Error(err)
	}
	sub.signal(syscall.SIGINT)
	sub.code(patience) // which is its own matter
}

func tryRequest(t *testing.T, w *world, line string) {
	needsNATS(t, w)
	says(t, "`$HOST` is the host's name as `watcher doctor` shows it, as a token")
	req := w.run(t, line, "HOST="+w.host(t)).ends(0)
	if err := req.printed(`^\{"host":.*"page":0,.*"name":"proj-93"`); err != nil {
		t.Error(err)
	}
}

// What a plain subscriber has missed it gets by sequence, in either way.
func TestMissedEventsAreThere(t *testing.T) {
	says(t, "`watcher tail --from SEQ` or a direct get on `core.DIRECT.GET.PEERS` has them")
	w := watched(t)
	tail := w.run(t, "watcher tail --from 1 --json").prints(`^\{"seq":[0-9]+,"type":"PeerAppeared",.*"name":"proj-93"`)
	tail.stops(syscall.SIGINT, 130)
	needsNATS(t, w)
	get := w.run(t, `nats --context peerbus-observer req core.DIRECT.GET.PEERS '{"seq":1}'`).ends(0)
	if err := get.printed(`^\{"type":"`); err != nil {
		t.Error(err)
	}
}
