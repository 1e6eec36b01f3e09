package codex

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"

	"peerbus/events"
	"peerbus/occupancy"
)

// kinds are what a peer's kind is to be, by the program that began the thread.
var kinds = map[string]string{"codex_exec": "exec", "codex-tui": "interactive"}

// statuses are what a peer's status is to be, by the last that its thread says of a turn.
var statuses = map[Turn]events.Status{"": events.Unknown, Started: events.Busy, Completed: events.Idle, Aborted: events.Idle}

// peers are the threads that are held, as peers, without times and the words of who tells.
func (h *Home) peers() ([]events.Peer, error) {
	locks, err := h.Locks()
	if err != nil {
		return nil, err
	}
	var peers []events.Peer
	for thread, pid := range locks {
		if pid == 0 {
			continue
		}
		r, err := h.Rollout(thread)
		if err != nil && !errors.Is(err, errNoRollout) {
			return nil, err
		}
		_, start := stat(pid)
		peers = append(peers, events.Peer{
			Harness: events.Codex, Session: thread, PID: pid, Start: start, Home: h.Codex(),
			Name: r.Nickname, Cwd: r.Cwd, Kind: kinds[r.Originator], Entrypoint: r.Originator, Version: r.Version, Parent: r.Parent, Status: statuses[r.Turn],
		})
	}
	return peers, nil
}

// agrees waits until the roster is what the locks and the rollouts say, that many threads.
func (w *watcher) agrees(threads int) {
	w.t.Helper()
	w.home.Until("the roster is what the locks say", func() error {
		want, err := w.home.peers()
		if err != nil {
			return err
		}
		got, err := w.roster()
		if err != nil {
			return err
		}
		for i, p := range got {
			if p.Parent == "" {
				p.Name = "" // a title that was made up, which is not in the rollout
			}
			got[i] = events.Peer{
				Harness: p.Harness, Session: p.Session, PID: p.PID, Start: p.Start, Home: p.Home,
				Name: p.Name, Cwd: p.Cwd, Kind: p.Kind, Entrypoint: p.Entrypoint, Version: p.Version, Parent: p.Parent, Status: status(p),
				Addressable: p.Addressable,
			}
		}
		order := func(a, b events.Peer) int { return cmp.Compare(a.Session, b.Session) }
		if d := gocmp.Diff(slices.SortedFunc(slices.Values(want), order), slices.SortedFunc(slices.Values(got), order)); d != "" {
			return fmt.Errorf("the lists differ (-locks +roster):\n%s", d)
		}
		if len(got) != threads {
			return fmt.Errorf("%d threads, want %d", len(got), threads)
		}
		return nil
	})
}

// verdict is the part of an answer that a test can know.
type verdict struct {
	Attachable bool
	Reason     occupancy.Reason
	Owners     []int // their pids
}

// occupied asks about a thread.
func (w *watcher) occupied(thread string) (verdict, []occupancy.Doubt, error) {
	out, err := w.command(w.t.Context(), "occupied", events.Codex, thread).Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != 1) {
		return verdict{}, nil, explain(err)
	}
	var v occupancy.Verdict
	if err := json.Unmarshal(out, &v); err != nil {
		return verdict{}, nil, fmt.Errorf("decode %s: %w", out, err)
	}
	if v.Attachable == failed {
		return verdict{}, nil, fmt.Errorf("it ends with %v: %s", err, out)
	}
	got := verdict{Attachable: v.Attachable, Reason: v.Reason}
	for _, o := range v.Owners {
		if _, start := stat(o.PID); o.Harness != events.Codex || o.Thread != thread || o.Start != start || o.SelfOwned {
			return verdict{}, nil, fmt.Errorf("owner %+v of %s", o, thread)
		}
		got.Owners = append(got.Owners, o.PID)
	}
	return got, v.Doubts, nil
}

// says checks what the watcher answers about a thread, at once.
func (w *watcher) says(thread string, want verdict) {
	w.t.Helper()
	got, doubts, err := w.occupied(thread)
	if err != nil {
		w.t.Errorf("is thread %s occupied: %v", thread, err)
	}
	if d := gocmp.Diff(want, got); d != "" {
		w.t.Errorf("thread %s, with doubts %v (-want +got):\n%s", thread, doubts, d)
	}
}

// heldBy is the answer where that process holds the thread.
func heldBy(pid int) verdict {
	return verdict{Reason: occupancy.LiveProcess, Owners: []int{pid}}
}

// free is the answer where nobody holds a thread.
var free = verdict{Attachable: true}

// leftBehind is the answer where a lock is there and nobody is seen to hold it: nobody does, unless there may be
// processes that are not seen.
func leftBehind() verdict {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err != nil || ns != "pid:[4026531836]" { // PROC_PID_INIT_INO
		return verdict{Reason: occupancy.HolderUnknown}
	}
	return free
}
