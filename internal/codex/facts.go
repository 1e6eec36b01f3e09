package codex

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"peerbus/events"
	"peerbus/reconcile"
)

// maxListed bounds the files that are named one by one in a report on a home; the others are counted.
const maxListed = 100

// watchMeans is what fsnotify rests on.
var watchMeans = map[string]string{"linux": "inotify", "darwin": "kqueue", "windows": "ReadDirectoryChangesW"}

// Facts implements [reconcile.Harness]. The facts are of the last reading; before the first there is little to say.
func (h *Harness) Facts() []reconcile.Fact {
	h.mu.Lock()
	defer h.mu.Unlock()
	if runtime.GOOS == "windows" {
		return []reconcile.Fact{{Check: "codex", OK: true, Fact: "threads of Codex cannot be seen on Windows"}}
	}
	var facts []reconcile.Fact
	for _, hm := range h.homes {
		facts = append(facts, hm.folderFact())
		if hm.state != there {
			continue
		}
		facts = append(facts, h.watcher.fact(hm), hm.threadsFact())
		facts = append(facts, hm.listed()...)
		facts = append(facts, hm.daemon.fact())
	}
	return append(facts, h.locksFact(), h.deathsFact())
}

func (hm *home) folderFact() reconcile.Fact {
	f := reconcile.Fact{Check: "codex folder", OK: true, Fact: fmt.Sprintf("%q ", hm.folder)}
	switch hm.state {
	case never:
		f.Fact += "was not looked at yet"
	case missing:
		f.Fact += "is not there: Codex was never run there, or is older than 0.146 and does not tell which threads are open"
	case there:
		f.Fact += fmt.Sprintf("is read, last swept %s", events.At(hm.swept))
	case doubled:
		f.Fact += fmt.Sprintf("is the same folder as %q, which counts", hm.twin.folder)
	case away:
		f.OK, f.Fact = false, f.Fact+"is away since "+events.At(hm.unseen).String()
		f.Hint = "threads are known by their processes alone until it is back"
	case unreadable:
		f.OK, f.Fact = false, f.Fact+"cannot be read since "+events.At(hm.unseen).String()+": "+plain(hm.why)
		f.Hint = "threads are known by their processes alone until it can be read"
	}
	return f
}

func (w *watcher) fact(hm *home) reconcile.Fact {
	a, running := w.state(hm.folder)
	f := reconcile.Fact{Check: "codex watch", OK: true, Fact: fmt.Sprintf("%q ", hm.folder)}
	switch {
	case !running:
		f.Fact += "is not watched by this process"
	case a.id != hm.id || a.id == (fileID{}):
		f.Fact += "is swept, and watched when a sweep has found it"
	case a.err == nil:
		f.Fact += "is watched by " + watchMeans[runtime.GOOS]
	default:
		f.OK, f.Fact = false, f.Fact+"is swept only: "+plain(a.err)
		f.Hint = fmt.Sprintf("tried again each %v; on Linux see fs.inotify.max_user_instances and max_user_watches", w.retry)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overflows > 0 {
		f.Fact += fmt.Sprintf("; notices were lost %d times, and everything read anew", w.overflows)
	}
	return f
}

// fate is what a lock in the folder was taken for.
type fate int

const (
	held    fate = iota
	hidden       // by somebody who cannot be told
	once         // held when it was looked at, which was once
	unasked      // it could not be asked about
	unheld
	fates // how many there are
)

// fateWords say it, as a count is followed by it.
var fateWords = [fates]string{
	held: "threads held", hidden: "held by somebody who cannot be told", once: "held when looked at once",
	unasked: "that could not be asked about", unheld: "left behind, or not held by anybody who can be seen",
}

func (t *thread) fate() fate {
	switch {
	case t.any(sure):
		return held
	case t.held, t.any(astray):
		return hidden
	case t.any(fresh), t.any(assumed):
		return once
	case t.why != nil:
		return unasked
	}
	return unheld
}

// any tells whether the thread has a holder of that standing.
func (t *thread) any(st standing) bool {
	return slices.ContainsFunc(t.holders, func(h *holder) bool { return h.state == st })
}

// threadsFact counts the locks in the folder by what they were taken for.
func (hm *home) threadsFact() reconcile.Fact {
	var count [fates]int
	silent := 0
	for _, t := range hm.threads {
		if t.here {
			count[t.fate()]++
			if t.fate() == held && t.rollout.meta.id == "" {
				silent++
			}
		}
	}
	says := []string{fmt.Sprintf("%d %s", count[held], fateWords[held])}
	for k := held + 1; k < fates; k++ {
		if count[k] > 0 {
			says = append(says, fmt.Sprintf("%d %s", count[k], fateWords[k]))
		}
	}
	if silent > 0 {
		says = append(says, fmt.Sprintf("%d held without a rollout that could be read", silent))
	}
	f := reconcile.Fact{Check: "codex threads", OK: true, Fact: fmt.Sprintf("%q has %s", hm.folder, strings.Join(says, ", "))}
	if count[unasked] > 0 || count[hidden] > 0 && tellsHolders {
		f.OK, f.Hint = false, "whose holder is not known is not shown as a peer"
	}
	return f
}

// listed names what was not taken for a thread's lock, and the rollouts that could not be read.
func (hm *home) listed() []reconcile.Fact {
	var facts []reconcile.Fact
	for _, name := range slices.Sorted(maps.Keys(hm.odd)) {
		facts = append(facts, reconcile.Fact{
			Check: "codex lock", OK: hm.odd[name] == errName,
			Fact: fmt.Sprintf("%q %s", filepath.Join(hm.folder, name), plain(hm.odd[name])),
		})
	}
	for _, id := range slices.Sorted(maps.Keys(hm.threads)) {
		if ro := hm.threads[id].rollout; ro.why != nil {
			facts = append(facts, reconcile.Fact{Check: "codex rollout", Fact: fmt.Sprintf("%q %s", ro.path, plain(ro.why))})
		}
	}
	if n := len(facts) - maxListed; n > 0 {
		facts = append(facts[:maxListed:maxListed], reconcile.Fact{
			Check: "codex lock", Fact: fmt.Sprintf("%q has %d more like these", hm.folder, n),
		})
	}
	return facts
}

func (d *daemon) fact() reconcile.Fact {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := reconcile.Fact{Check: "codex daemon", OK: true}
	switch {
	case d.connected:
		f.Fact = fmt.Sprintf("tells of %d threads of %q what they wait for", len(d.threads), d.home)
	case d.why == nil:
		f.Fact = fmt.Sprintf("of %q is not listened to by this process", d.home)
	case errors.Is(d.why, errIdle):
		f.Fact = fmt.Sprintf("of %q holds no thread that is seen, and is not listened to", d.home)
	case errors.Is(d.why, fs.ErrNotExist), errors.Is(d.why, errNobody):
		f.Fact = fmt.Sprintf("of %q is not there: a thread that waits for its user is shown as busy", d.home)
	default:
		f.Fact = fmt.Sprintf("of %q cannot be listened to: %s; a thread that waits for its user is shown as busy", d.home, plain(d.why))
	}
	return f
}

// locksFact says how it is told who holds what.
func (h *Harness) locksFact() reconcile.Fact {
	f := reconcile.Fact{Check: "codex locks", OK: true}
	switch {
	case h.blind != nil:
		f.OK, f.Fact = false, "it cannot be asked who holds a lock: "+plain(h.blind)
		f.Hint = "threads are known by their processes alone until it can"
	case !tellsHolders:
		f.Fact = "the kernel tells that a lock is held and not by whom: threads are not shown as peers here"
	case !h.seesAll():
		f.Fact = fmt.Sprintf("/proc/locks was read %d times; it hides the locks of processes outside of this pid namespace", h.censuses)
		f.Hint = "a thread that is open outside of it is neither shown nor said to be free"
	default:
		f.Fact = fmt.Sprintf("/proc/locks was read %d times, the last %s", h.censuses, cmp.Or(events.At(h.counted).String(), "never"))
	}
	return f
}

func (h *Harness) deathsFact() reconcile.Fact {
	watched, polled := h.deaths.Counts()
	f := reconcile.Fact{Check: "codex deaths", OK: true, Fact: fmt.Sprintf(
		"the ends of %d processes are told by %s, %d of them polled", watched, h.deaths.Mode(), polled)}
	if why := h.deaths.Why(); why != "" {
		f.Fact += ": " + why
	}
	return f
}

// plain is what err says, without the path that it may begin with, and without what a terminal would obey.
func plain(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	s := err.Error()
	if quoted := strconv.Quote(s); quoted[1:len(quoted)-1] != s {
		return quoted
	}
	return s
}
