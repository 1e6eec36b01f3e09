package claude

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"peerbus/events"
	"peerbus/reconcile"
)

func TestFolderMissingAtStartAndCreatedLater(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.must(os.RemoveAll(w.dir))
	w.restart()
	w.read()
	w.holds()
	w.says("ok claude folder", "is not there: no sessions")
	w.must(os.MkdirAll(w.folder(), 0o700))
	w.read()
	w.says("ok claude folder", "is read")
	w.write(p.idle("s"))
	w.read()
	w.holds("s")
	if len(w.blind) > 0 {
		t.Errorf("blind, with nothing to see: %v", w.blind)
	}
}

func TestFolderRemovedAndRecreated(t *testing.T) {
	w, lives, dies := newWorld(t), spawn(t), spawn(t)
	w.write(lives.idle("lives"))
	w.write(dies.idle("dies"))
	seen := w.read().At
	w.must(os.RemoveAll(w.folder()))
	w.read()
	w.holds("dies", "lives")
	w.says("bad claude folder", "is away since "+events.At(seen).String())
	dies.end()
	w.read()
	w.went(left("dies", dies, events.Died))
	w.skew = time.Hour // no grace runs out while nobody can see
	w.read()
	w.read(w.at(lives.pid))
	w.holds("lives")

	w.mkdir()
	back := w.read().At
	w.holds("lives")
	wantBlind(t, w.blind, reconcile.Blind{From: seen, To: back, Why: events.Folder})
	w.write(lives.idle("lives"))
	w.read()
	w.skew += time.Hour
	w.read()
	w.holds("lives")
	if len(w.blind) != 1 {
		t.Errorf("blind told again: %v", w.blind)
	}
}

func wantBlind(t *testing.T, got []reconcile.Blind, want ...reconcile.Blind) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("blind %v, want %v", got, want)
	}
	for i := range want {
		if !got[i].From.Equal(want[i].From) || !got[i].To.Equal(want[i].To) || got[i].Why != want[i].Why {
			t.Errorf("blind %v, want %v", got[i], want[i])
		}
	}
}

func TestFolderRemovedAndRecreatedBetweenTwoSweeps(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	w.must(os.RemoveAll(w.folder()))
	w.mkdir()
	w.write(p.idle("t"))
	w.read()
	w.holds("t")
	w.went(left("s", p, events.Switched))
}

func TestFolderRenamedAwayAndAnotherInItsPlace(t *testing.T) {
	w, stays, leaves := newWorld(t), spawn(t), spawn(t)
	w.write(stays.idle("stays"))
	w.write(leaves.idle("leaves"))
	w.read()
	w.must(os.Rename(w.folder(), w.folder()+".old"))
	w.read()
	w.holds("leaves", "stays")
	w.mkdir()
	w.write(stays.idle("stays"))
	w.read()
	w.holds("leaves", "stays")
	w.skew = goneGrace
	w.read()
	w.went(left("leaves", leaves, events.Unregistered))
}

func TestNoGraceRunsOutWhileTheFolderIsAway(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	w.must(os.Remove(w.file(p.pid)))
	w.read()
	w.must(os.Rename(w.folder(), w.folder()+".old"))
	w.read()
	w.skew = time.Hour
	w.must(os.Rename(w.folder()+".old", w.folder()))
	w.read()
	w.holds("s")
	w.skew += goneGrace
	w.read()
	w.went(left("s", p, events.Unregistered))
}

func TestFolderBehindARepointedSymlink(t *testing.T) {
	w, p1, p2 := newWorld(t), spawn(t), spawn(t)
	one, two := filepath.Join(w.dir, "one"), filepath.Join(w.dir, "two")
	w.must(os.Remove(w.folder()))
	w.must(os.Mkdir(one, 0o700))
	w.must(os.Mkdir(two, 0o700))
	w.must(os.Symlink(one, w.folder()))
	w.must(writeRecord(one, p1.idle("s1")))
	w.must(writeRecord(two, p2.idle("s2")))
	w.read()
	w.holds("s1")
	w.must(os.Remove(w.folder()))
	w.must(os.Symlink(two, w.folder()))
	s := w.read(w.at(p1.pid)) // whatever is read next notices it, and asks for the rest
	w.holds("s1")
	if want := (reconcile.Place{Harness: "claude", Home: w.dir}); len(s.Again) == 0 || s.Again[0].Place != want {
		t.Errorf("asks for %v", s.Again)
	}
	w.read(s.Again[0].Place)
	w.holds("s1", "s2")
	w.skew = goneGrace
	w.read()
	w.holds("s2")
}

func TestFolderUnreadableIsNotAllGone(t *testing.T) {
	w, lives, dies := newWorld(t), spawn(t), spawn(t)
	for name, spoil := range map[string]func() error{
		"a file": func() error { return os.WriteFile(w.folder(), nil, 0o600) },
		"a loop": func() error { return os.Symlink(w.folder(), w.folder()) },
		"no rights": func() error {
			if os.Geteuid() == 0 { // whom no rights are asked of
				return os.WriteFile(w.folder(), nil, 0o600)
			}
			return os.Mkdir(w.folder(), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			w.must(os.RemoveAll(w.folder()))
			w.mkdir()
			w.write(lives.idle("lives"))
			w.read()
			w.must(os.RemoveAll(w.folder()))
			w.must(spoil())
			w.blind = nil
			w.read()
			w.read()
			w.holds("lives")
			w.says("bad claude folder", "cannot be read since")
			w.must(os.RemoveAll(w.folder()))
			w.mkdir()
			w.write(lives.idle("lives"))
			w.read()
			w.holds("lives")
			if len(w.blind) != 1 || w.blind[0].Why != events.Folder {
				t.Errorf("blind %v", w.blind)
			}
		})
	}
	t.Run("and who died meanwhile did die", func(t *testing.T) {
		w.TB = t
		w.write(dies.idle("dies"))
		w.read()
		w.must(os.RemoveAll(w.folder()))
		w.must(os.WriteFile(w.folder(), nil, 0o600))
		dies.end()
		w.read()
		w.went(left("dies", dies, events.Died))
		w.holds("lives")
	})
}

func TestFolderAwayWhenTheWatcherStarts(t *testing.T) {
	w, lives, dies := newWorld(t), spawn(t), spawn(t)
	w.write(lives.idle("lives"))
	w.write(dies.idle("dies"))
	w.read()
	w.must(os.RemoveAll(w.folder()))
	dies.end()
	w.restart()
	w.read()
	w.went(left("dies", dies, events.Died))
	w.holds("lives")
	w.says("bad claude folder", "is away since")
}

func TestSeveralHomes(t *testing.T) {
	second := t.TempDir()
	w, p1, p2 := newWorld(t, second), spawn(t), spawn(t)
	w.must(os.Mkdir(filepath.Join(second, "sessions"), 0o700))
	w.write(p1.idle("s1"))
	w.must(writeRecord(filepath.Join(second, "sessions"), p2.idle("s2")))
	w.read()
	w.holds("s1", "s2")
	homes := map[string]string{}
	for _, p := range w.log {
		homes[p.Session] = p.Home
	}
	if homes["s1"] != w.dir || homes["s2"] != second {
		t.Errorf("homes %v", homes)
	}
	w.must(os.RemoveAll(second))
	w.read()
	w.holds("s1", "s2")

	t.Run("one that is not looked at any more", func(t *testing.T) {
		w.TB = t
		w.restart()
		w.read()
		w.holds("s1", "s2")
		p2.end()
		w.read(reconcile.Place{Harness: "claude", PID: p2.pid})
		w.went(left("s2", p2, events.Died))
	})
}

func TestTheSameFolderCountsOnce(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	w, p := newWorld(t, link), spawn(t)
	w.write(p.idle("s"))
	w.must(os.Mkdir(link, 0o700))
	w.must(os.Mkdir(filepath.Join(link, "sessions"), 0o700))
	w.must(writeRecord(filepath.Join(link, "sessions"), p.idle("other")))
	w.read()
	w.must(os.RemoveAll(link))
	w.must(os.Symlink(w.dir, link))
	w.restart(link, w.dir+"/.")
	w.read()
	w.read()
	w.skew = goneGrace
	w.read()
	w.holds("s")
	if got := w.only(); got.Home != w.dir {
		t.Errorf("home %s", got.Home)
	}
	w.says("ok claude folder", link, "is the same folder as", w.dir)
}

func TestAFolderThatCannotBeListedIsUnreadable(t *testing.T) {
	h := newHome(t.TempDir())
	now := time.Now()
	h.state, h.swept = there, now.Add(-time.Second)
	h.lose(errors.New("input/output error"), now, true)
	if h.state != unreadable || !h.unseen.Equal(h.swept) {
		t.Errorf("state %d, unseen since %v", h.state, h.unseen)
	}
}
