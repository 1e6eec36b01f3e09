package codex

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"peerbus/events"
)

func TestSharedLockWaitingLockerAndPOSIXLock(t *testing.T) {
	s, p, q, o := newStage(t), spawn(t), spawn(t), spawn(t)
	first := s.hold(p)
	s.settle()
	shared, posix, waited := newThread(t), newThread(t), newThread(t)
	p.does("share", s.lock(shared))
	q.does("share", s.lock(shared))
	p.does("posix", s.lock(posix))
	p.does("hold", s.lock(waited))
	o.does("wait", s.lock(waited))
	eventually(t, "the locker waits", func() bool {
		table, err := os.ReadFile("/proc/locks")
		s.must(err)
		return slices.ContainsFunc(strings.Split(string(table), "\n"), func(row string) bool {
			return strings.Contains(row, "-> FLOCK") && strings.Contains(row, " "+strconv.Itoa(o.pid)+" ")
		})
	})
	s.settle()
	s.has(first, shared, shared, waited)
	for _, peer := range s.log {
		if peer.Session == waited && peer.PID != p.pid {
			t.Errorf("the one who waits, pid %d, is taken for the holder: %+v", o.pid, peer)
		}
	}
}

// The kernel names who took a lock, also when that has ended and has left it to a child.
func TestHeirOfALock(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := newThread(t)
	heir, err := strconv.Atoi(p.ask("bequeath", s.lock(thread)))
	s.must(err)
	p.kill()
	s.settle()
	if got := s.only(); got.Session != thread || got.PID != heir {
		t.Errorf("peer %+v, want the heir, pid %d", got, heir)
	}
	s.restart()
	s.settle()
	if got := s.only(); got.PID != heir {
		t.Errorf("after a restart: %+v", got)
	}
	s.must(unix.Kill(heir, unix.SIGKILL))
	eventually(t, "the heir is gone", func() bool {
		s.settle()
		return len(s.log) == 0
	})
	s.went(going{thread, heir, events.Died})
}

// TestJunkInTheFolder has everything there that is no thread's lock.
func TestJunkInTheFolder(t *testing.T) {
	s, p := newStage(t), spawn(t)
	thread := s.hold(p)
	outside := filepath.Join(s.dir, "outside")
	p.does("hold", outside)
	p.does("hold", filepath.Join(s.folder(), coordination))
	for _, name := range []string{
		"notes.txt", ".lock", "x.lock", thread + ".lock.lock", thread, strings.ToUpper(newThread(t)) + ".lock",
		"{" + thread + "}.lock", newThread(t)[:35] + ".lock", " " + thread + ".lock",
	} {
		p.does("hold", filepath.Join(s.folder(), name))
	}
	s.must(os.Mkdir(s.lock(newThread(t)), 0o755))
	s.must(os.Symlink(outside, s.lock(newThread(t))))
	s.must(os.Symlink("nowhere", s.lock(newThread(t))))
	s.must(unix.Mkfifo(s.lock(newThread(t)), 0o600))
	s.settle()
	s.has(thread)
	s.says("ok codex lock", `notes.txt" is not named`)
	s.says("bad codex lock", "is no regular file")
}

// TestAnotherDevice has rows that name another device than the file's: some file systems have it so for the same file.
func TestAnotherDevice(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	mine, theirs := s.hold(p), newThread(t)
	s.must(os.WriteFile(s.lock(theirs), nil, 0o644))
	s.h.take = func(files []lockFile) census {
		c := takeCensus(files)
		for _, f := range files {
			if f.id == mine {
				c.of[f.at] = holding{takers: []taker{{pid: p.pid, loose: true}}}
			} else {
				c.of[f.at] = holding{takers: []taker{{pid: q.pid, loose: true}}} // of a file that has the same number
			}
		}
		return c
	}
	s.settle()
	s.has(mine)
	s.says("ok codex threads", "1 left behind")
}

func TestRowsOfTheFilesOwnDeviceCount(t *testing.T) {
	file := lockFile{id: newThread(t), at: fileID{dev: unix.Mkdev(0xfe, 0x10), ino: 9979749}}
	table := `1: FLOCK  ADVISORY  WRITE 11 fe:11:9979749 0 EOF
1: -> FLOCK  ADVISORY  WRITE 12 fe:10:9979749 0 EOF
2: POSIX  ADVISORY  WRITE 13 fe:10:9979749 0 EOF
3: OFDLCK ADVISORY  WRITE -1 fe:10:9979749 0 EOF
4: FLOCK  ADVISORY  READ  14 fe:10:9979749 0 EOF
5: FLOCK  ADVISORY  WRITE 15 fe:10:997974 0 EOF
6: FLOCK  ADVISORY  WRITE 16 fe:12:9979749 0 EOF
7: FLOCK  ADVISORY  WRITE 4294967295 fe:10:9979749 0 EOF
8: FLOCK  ADVISORY  WRITE 17 fe:10:9979749
9: FLOCK  ADVISORY  WRITE 18
10: LEASE  ACTIVE    READ 19 fe:10:9979749 0 EOF
`
	got := join([]lockFile{file}, []byte(table), true).of[file.at].takers
	if want := []taker{{pid: 14}, {}, {pid: 17}}; !slices.Equal(got, want) {
		t.Errorf("takers %+v, want %+v", got, want)
	}
	got = join([]lockFile{{at: fileID{dev: unix.Mkdev(0xfe, 0x13), ino: 9979749}}}, []byte(table), true).of[fileID{dev: unix.Mkdev(0xfe, 0x13), ino: 9979749}].takers
	if len(got) != 5 || !got[0].loose {
		t.Errorf("no row of the device: %+v", got)
	}
	got = join([]lockFile{file}, []byte(table), false).of[file.at].takers
	if !slices.Equal(got, []taker{{}, {}, {}}) {
		t.Errorf("where pids mean nothing: %+v", got)
	}
}

// A table that cannot be read ends nobody who lives.
func TestTableThatCannotBeRead(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	lives, dies := s.hold(p), s.hold(q)
	s.settle()
	s.h.take = func([]lockFile) census { return census{err: errors.New("no such table")} }
	unseen := s.hold(p)
	q.kill()
	s.read()
	s.read()
	s.has(lives)
	s.went(going{dies, q.pid, events.Died})
	s.says("bad codex locks", "no such table")
	for _, a := range s.last.Again {
		if a.After < failedGap/2 {
			t.Errorf("asked for again after %v", a.After)
		}
	}
	s.restart()
	s.h.take = func([]lockFile) census { return census{err: errors.New("no such table")} }
	s.read()
	s.has(lives)
	s.restart()
	s.settle()
	s.has(lives, unseen)
}

// opens tells which names in dir are opened, until the test ends it.
func opens(t testing.TB, dir string) (end func() []string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		var names []string
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if err == unix.EAGAIN {
				return names
			} else if err != nil {
				t.Fatal(err)
			}
			for at := 0; at < n; {
				ev := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
				at += unix.SizeofInotifyEvent
				name := strings.TrimRight(string(buf[at:at+int(ev.Len)]), "\x00")
				at += int(ev.Len)
				if name != "" { // the folder itself
					names = append(names, name)
				}
			}
		}
	}
}

// TestNoLockIsEverOpened has all that the harness does happen, and nothing in the folder opened: whoever opens a file
// there is one step from locking it, and a lock that is held for a millisecond makes sessions fail to start.
func TestNoLockIsEverOpened(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	var ws wakes
	s.watch(ws.add)
	held, left := s.hold(p), s.hold(q)
	q.does("append", s.rollout(left))
	end := opens(t, s.folder())
	s.settle()
	s.read(s.at(held))
	s.h.Explain(t.Context(), s.log[slices.Collect(keys(s.log))[0]])
	s.h.Facts()
	q.kill()
	s.settle()
	s.restart()
	s.settle()
	s.has(held)
	about, err := Owners([]string{s.dir})(t.Context())
	s.must(err)
	if f := about(t.Context(), held); len(f.Owners) != 1 {
		t.Errorf("owners %+v", f)
	}
	heirs(lockFile{id: held, at: fileID{1, 1}})
	if names := end(); len(names) > 0 {
		t.Errorf("opened: %q", names)
	}
	f, err := os.Open(s.lock(held))
	s.must(err)
	s.must(f.Close())
	if names := end(); !slices.Equal(names, []string{lockName(held)}) {
		t.Errorf("an opening is not seen: %q", names)
	}
}

func keys(m map[events.ID]events.Peer) func(func(events.ID) bool) {
	return func(yield func(events.ID) bool) {
		for id := range m {
			if !yield(id) {
				return
			}
		}
	}
}

// TestManyThreadsOfOneDaemon has one reading of /proc/locks do for all, at the start, in a sweep and at the end.
func TestManyThreadsOfOneDaemon(t *testing.T) {
	const many = 300
	s, p := newStage(t), spawn(t)
	threads := make([]string, many)
	for i := range threads {
		threads[i] = s.hold(p)
	}
	s.read()
	s.has(threads...)
	if n := s.h.censuses; n != 2 { // two looks, each one reading
		t.Errorf("%d readings at the start", n)
	}
	for range 5 {
		s.read()
	}
	if n := s.h.censuses; n != 2 {
		t.Errorf("%d readings after sweeps in which nothing happened", n)
	}
	for range 20 {
		s.write(threads[7], itemLine)
		s.read(s.at(threads[7]))
	}
	if n := s.h.censuses; n != 2 {
		t.Errorf("%d readings after a turn that writes", n)
	}
	s.skew += censusEvery
	s.read()
	if n := s.h.censuses; n != 3 {
		t.Errorf("%d readings after %v", n, censusEvery)
	}
	p.kill()
	s.h.cause.Store(true)
	s.read()
	s.has()
	if n := s.h.censuses; n != 4 {
		t.Errorf("%d readings after the daemon's end", n)
	}
	if len(s.gone) != many {
		t.Errorf("%d went", len(s.gone))
	}
}
