package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"peerbus/events"
	"peerbus/occupancy"
)

func init() {
	roles["elsewhere"] = lookFromElsewhere
	roles["elsewhere, with its own /proc"] = func() int {
		for _, err := range []error{
			unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
			unix.Mount("proc", "/proc", "proc", 0, ""),
		} {
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return lookFromElsewhere()
	}
}

// elsewhere is what is seen from another pid namespace than the holder's.
type elsewhere struct {
	Peers, Gone int
	Unread      int
	Verdict     occupancy.Verdict
}

// lookFromElsewhere reads a home and asks about a thread in it; it is told who is known on its standard input.
func lookFromElsewhere() int {
	var known events.Peer
	if err := json.NewDecoder(os.Stdin).Decode(&known); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	h := New([]string{known.Home}, Options{})
	var e elsewhere
	for range 3 {
		snap := h.Read(ctx, nil, []events.Peer{known})
		h.cause.Store(true)
		e.Peers, e.Gone, e.Unread = len(snap.Peers), e.Gone+len(snap.Gone), len(snap.Unread)
	}
	about, err := Owners([]string{known.Home})(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	found := about(ctx, known.Session)
	e.Verdict = occupancy.Judge(occupancy.Question{Harness: events.Codex, Thread: known.Session}, occupancy.Evidence{Found: found})
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		return 1
	}
	return 0
}

// TestFromAnotherPIDNamespace has the watcher in a namespace of its own: the kernel hides the holder from it there.
func TestFromAnotherPIDNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a pid namespace")
	}
	s, p := newStage(t), spawn(t)
	held, left := s.hold(p), newThread(t)
	s.must(os.WriteFile(s.lock(left), nil, 0o644))
	exe, err := os.Executable()
	s.must(err)
	for role, flags := range map[string]uintptr{
		"elsewhere":                     syscall.CLONE_NEWPID,
		"elsewhere, with its own /proc": syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
	} {
		for name, thread := range map[string]string{"held": held, "left": left, "no lock": newThread(t)} {
			t.Run(role+": "+name, func(t *testing.T) {
				known := events.Peer{Harness: events.Codex, Session: thread, PID: 2, Start: "0", Home: s.dir}
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
				cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
				cmd.Stderr = os.Stderr
				in, err := cmd.StdinPipe()
				s.must(err)
				out, err := cmd.StdoutPipe()
				s.must(err)
				s.must(cmd.Start())
				s.must(json.NewEncoder(in).Encode(known))
				var got elsewhere
				err = json.NewDecoder(out).Decode(&got)
				s.must(cmd.Wait())
				s.must(err)
				if thread != held && thread != left {
					if !got.Verdict.Attachable {
						t.Errorf("without a lock in a folder that can be read: %+v", got)
					}
					return
				}
				if got.Verdict.Attachable || got.Verdict.Reason != occupancy.HolderUnknown {
					t.Errorf("verdict %+v", got.Verdict)
				}
				if got.Peers > 0 {
					t.Errorf("%d peers, of pids that mean nothing there", got.Peers)
				}
			})
		}
	}
	about, err := Owners([]string{s.dir})(t.Context())
	s.must(err)
	if f := about(t.Context(), held); len(f.Doubts) > 0 || !slices.ContainsFunc(f.Owners, func(o occupancy.Owner) bool { return o.PID == p.pid }) {
		t.Errorf("from here: %+v", f)
	}
}

// A lock that nobody is seen to hold ends nobody who lives where the kernel may be hiding the holder.
func TestUnheldIsUnknownWhereHoldersCanHide(t *testing.T) {
	s, p, q := newStage(t), spawn(t), spawn(t)
	lives, dies := s.hold(p), s.hold(q)
	s.settle()
	s.h.seesAll = func() bool { return false }
	p.does("drop", s.lock(lives)) // as if it were hidden
	q.kill()
	for range 4 {
		s.h.cause.Store(true)
		s.settle()
	}
	s.has(lives)
	s.went(going{dies, q.pid, events.Died})
	s.says("codex locks", "hides the locks of processes outside")
	p.does("hold", s.lock(lives))
	s.h.cause.Store(true)
	s.settle()
	s.has(lives)
}
