package codex

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"peerbus/events"
)

// explained is the explanation as text.
func (s *stage) explained(p events.Peer) string {
	e := s.h.Explain(s.Context(), p)
	var b strings.Builder
	fmt.Fprintln(&b, e.Verdict)
	for _, ev := range e.Evidence {
		fmt.Fprintln(&b, ev.OK, ev.Source, ev.About, ev.Says)
	}
	return b.String()
}

func (s *stage) explains(p events.Peer, lines ...string) {
	s.Helper()
	got := s.explained(p)
	for _, want := range lines {
		if !strings.Contains(got, want) {
			s.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestExplain(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	s.settle()
	peer := s.only()
	s.explains(peer, "alive\n", fmt.Sprintf("true process %d is alive", p.pid), fmt.Sprintf("is held; taken by pid [%d]", p.pid),
		"true descriptors", "one of them holds the lock", `true rollout`, `"task_started"`)
	s.write(thread, turnLine("task_complete"))
	s.explains(peer, `"task_complete" as the last word`)
	s.must(os.Remove(s.rollout(thread)))
	s.explains(peer, "false rollout", "is not there any more")
	p.does("drop", s.lock(thread))
	s.explains(peer, "alive\n", "is there, and nobody holds it", "none of them holds the lock")
	s.must(os.Remove(s.lock(thread)))
	s.explains(peer, "false lock", "no such file")
	p.kill()
	s.explains(peer, "dead\n", "has ended")
	peer.Home = "/nowhere"
	s.explains(peer, "is no home that is looked at")
	peer.Home, peer.Session = s.dir, "../../etc/passwd"
	s.explains(peer, "is no home that is looked at")
}

func TestExplainDoesNotChangeWhatIsKnown(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.write(thread, metaLine(thread), turnLine("task_started"))
	s.settle()
	before := s.only()
	s.write(thread, turnLine("task_complete"))
	s.explained(before)
	s.read(s.at(thread))
	if got := s.only(); got.Status != events.Idle {
		t.Errorf("peer %+v", got)
	}
}
