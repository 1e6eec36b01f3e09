package codex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/reconcile"
)

// censusEvery is how often it is asked who holds the locks without any cause. Codex can take a lock whose file was left
// behind without a notice.
const censusEvery = 10 * time.Second

// failedGap is how long after a census that failed another is tried, for a lock that wants one.
const failedGap = time.Second

// count asks who holds the locks, if there is a cause: a change in a folder, the death of a holder, a lock that wants a
// second look, a peer of the log that nobody has asked about yet, or time.
func (r *reading) count(ctx context.Context, caused bool) {
	adopted := r.adopt()
	files := r.files()
	if len(files) == 0 {
		return
	}
	first := r.censuses == 0
	if !caused && !adopted && !r.due() && (len(r.of) > 0 || r.at.Sub(r.counted) < censusEvery) {
		return
	}
	r.census(files)
	if !first || !r.anyFresh() {
		return
	}
	t := time.NewTimer(takenGap)
	defer t.Stop()
	select {
	case <-t.C:
		r.asked = newAnswers()
		r.census(files)
	case <-ctx.Done():
	}
}

// adopt takes the peers of the log that nobody has asked about yet for holders, and reports whether there were any.
func (r *reading) adopt() (some bool) {
	for at, ks := range r.known {
		t := at.home.threads[at.id]
		if t == nil || !t.here {
			continue
		}
		for _, k := range ks {
			who := identity(k)
			if t.holder(who) == nil && t.lostFor(who) == "" {
				t.holders = append(t.holders, &holder{who: who, taker: k.PID, state: assumed})
				some = true
			}
		}
	}
	return some
}

// due tells whether a lock wants another look by now.
func (r *reading) due() bool {
	now := time.Now()
	for _, t := range r.locks() {
		if !t.due.IsZero() && !now.Before(t.due) {
			return true
		}
	}
	return false
}

func (r *reading) anyFresh() bool {
	for _, t := range r.locks() {
		if t.any(fresh) || t.any(astray) {
			return true
		}
	}
	return false
}

// census asks once about all.
func (r *reading) census(files []lockFile) {
	at := time.Now()
	r.counted = r.at
	r.censuses++
	c := r.take(files)
	r.Harness.blind = c.err
	for hm, t := range r.locks() {
		switch {
		case c.err == nil:
			t.absorb(c.of[t.file], at, asking{r, hm})
		case !t.due.IsZero():
			t.due = at.Add(failedGap)
		}
	}
}

// rest asks for another look at the threads that want one, and at those outside of the scope of which there is news.
func (r *reading) rest() {
	for hm, t := range r.locks() {
		place := reconcile.Place{Home: hm.path, Session: t.id}
		if t.news {
			r.again(place, soon)
		}
		if !t.due.IsZero() {
			r.again(place, max(soon, time.Until(t.due)))
		}
	}
}

// asking is the [world] of one home in one reading.
type asking struct {
	*reading
	home *home
}

func (a asking) look(pid int) proc.Sight              { return a.asked.look(pid) }
func (a asking) check(id proc.Identity) proc.Verdict  { return a.asked.check(id) }
func (a asking) inspect(pid int) (descriptors, error) { return a.asked.inspect(pid, a.files) }
func (a asking) heirs(f lockFile) []int               { return heirs(f) }
func (a asking) seesAll() bool                        { return a.Harness.seesAll() }

func (a asking) known(t *thread, who proc.Identity) bool {
	for _, k := range a.reading.known[spot{a.home, t.id}] {
		if same(identity(k), who) {
			return true
		}
	}
	return false
}

// ending looks once more at the folder: a process that closes its thread removes the file, before it ends and after it
// has let the lock go, so that a file which is there after that was left behind.
func (a asking) ending(t *thread) events.Reason {
	if _, err := os.Lstat(filepath.Join(a.home.folder, lockName(t.id))); errors.Is(err, fs.ErrNotExist) {
		return events.Exited
	}
	return events.Died
}
