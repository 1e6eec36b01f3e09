package codex

import (
	"os"
	"path/filepath"
	"testing"

	"peerbus/events"
)

func TestFolderThatIsNotThereTellsNothing(t *testing.T) {
	s := newStage(t)
	s.must(os.Remove(s.folder()))
	s.read()
	s.has()
	s.says("ok codex folder", "older than 0.146")
	p := spawn(t)
	s.mkdir()
	thread := s.hold(p)
	s.settle()
	s.has(thread)
}

func TestFolderAway(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	lives, dies := s.hold(p), s.hold(q)
	s.settle()
	s.must(os.Rename(s.folder(), s.folder()+".away"))
	q.kill()
	s.read()
	s.has(lives)
	s.went(going{dies, q.pid, events.Died})
	s.says("bad codex folder", "is away since")
	s.must(os.Rename(s.folder()+".away", s.folder()))
	s.settle()
	s.has(lives)
	s.went()
	s.says("ok codex folder", "is read")
}

func TestFolderReplacedByAFile(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	s.settle()
	s.must(os.Rename(s.folder(), s.folder()+".away"))
	s.must(os.WriteFile(s.folder(), nil, 0o600))
	s.read()
	s.has(thread)
	s.says("bad codex folder", "cannot be read")
}

func TestSeveralHomesAndOneOfThemTwice(t *testing.T) {
	other := newStage(t)
	link := filepath.Join(t.TempDir(), "link")
	other.must(os.Symlink(other.dir, link))
	s, p := newStage(t), spawn(t)
	s.restart(other.dir, s.dir, link, filepath.Join(t.TempDir(), "missing"))
	a := s.hold(p)
	b := other.hold(p)
	s.settle()
	s.has(a, b)
	homes := map[string]string{}
	for _, peer := range s.log {
		homes[peer.Session] = peer.Home
	}
	if homes[a] != s.dir || homes[b] != other.dir {
		t.Errorf("homes %v", homes)
	}
	s.says("ok codex folder", "is the same folder as")
	p.does("release", s.lock(a))
	s.settle()
	s.has(b)
	s.went(going{a, p.pid, events.Exited})
}

// A peer whose home is not looked at any more is judged by its process.
func TestPeerOfAHomeThatIsNotLookedAt(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	lives, dies := s.hold(p), s.hold(q)
	s.settle()
	s.h = New([]string{t.TempDir()}, Options{})
	q.kill()
	s.read()
	s.has(lives)
	s.went(going{dies, q.pid, events.Died})
}
