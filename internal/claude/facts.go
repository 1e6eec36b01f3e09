package claude

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"peerbus/events"
	"peerbus/reconcile"
)

// maxListed bounds the files that are named one by one in a report on a home; the others are counted.
const maxListed = 100

// watchMeans is what fsnotify rests on.
var watchMeans = map[string]string{"linux": "inotify", "windows": "ReadDirectoryChangesW"}

// Facts implements [reconcile.Harness]. The facts are of the last reading; before the first there is little to say.
func (h *Harness) Facts() []reconcile.Fact {
	h.mu.Lock()
	defer h.mu.Unlock()
	var facts []reconcile.Fact
	for _, hm := range h.homes {
		facts = append(facts, hm.folderFact())
		if hm.state == doubled {
			continue
		}
		facts = append(facts, h.watcher.fact(hm))
		if hm.state == there {
			facts = append(facts, hm.sweepFact(), hm.peersFact())
			facts = append(facts, hm.recordFacts()...)
		}
	}
	return append(facts, h.deathsFact())
}

func (hm *home) folderFact() reconcile.Fact {
	f := reconcile.Fact{Check: "claude folder", OK: true, Fact: fmt.Sprintf("%q ", hm.folder)}
	switch hm.state {
	case never:
		f.Fact += "was not looked at yet"
	case missing:
		f.Fact += "is not there: no sessions, and nobody can say whether a thread is held"
	case there:
		f.Fact += "is read"
	case doubled:
		f.Fact += fmt.Sprintf("is the same folder as %q, which counts", hm.twin.folder)
	case away:
		f.OK, f.Fact = false, f.Fact+"is away since "+events.At(hm.unseen).String()
		f.Hint = "sessions are known by their processes alone until it is back"
	case unreadable:
		f.OK, f.Fact = false, f.Fact+"cannot be read since "+events.At(hm.unseen).String()+": "+plain(hm.why)
		f.Hint = "sessions are known by their processes alone until it can be read"
	}
	return f
}

func (w *watcher) fact(hm *home) reconcile.Fact {
	a, running := w.state(hm)
	f := reconcile.Fact{Check: "claude watch", OK: true, Fact: fmt.Sprintf("%q ", hm.folder)}
	switch {
	case !running:
		f.Fact += "is not watched by this process"
	case a.id != hm.id || a.id == (folderID{}):
		f.Fact += "is swept, and watched when a sweep has found it"
	case errors.Is(a.err, errOpensFiles):
		f.Fact += "is swept each second: " + plain(a.err)
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

func (hm *home) sweepFact() reconcile.Fact {
	return reconcile.Fact{Check: "claude sweep", OK: true, Fact: fmt.Sprintf(
		"%q last swept %s, %d records read, %d of them torn and read again",
		hm.folder, events.At(hm.swept), hm.reads, hm.torn)}
}

// kindWords say what a record was taken for, as a count is followed by it.
var kindWords = [kinds]string{
	peer: "peers", bare: "without a status yet", leftover: "left behind by dead processes",
	replaced: "of processes whose pid is another's now", unproven: "of processes that could not be proven",
	elsewhere: "of another pid domain", parked: "handed to a background job", spare: "started in advance",
	courier: "couriers of ours",
}

func (hm *home) peersFact() reconcile.Fact {
	var count [kinds]int
	broken := len(hm.odd)
	for _, s := range hm.slots {
		switch {
		case !s.here:
		case s.bad != nil:
			broken++
		default:
			count[s.kind]++
		}
	}
	says := []string{fmt.Sprintf("%d %s", count[peer], kindWords[peer])}
	for k := peer + 1; k < kinds; k++ {
		if count[k] > 0 {
			says = append(says, fmt.Sprintf("%d %s", count[k], kindWords[k]))
		}
	}
	if broken > 0 {
		says = append(says, fmt.Sprintf("%d not read", broken))
	}
	return reconcile.Fact{
		Check: "claude records", OK: true, Fact: fmt.Sprintf("%q has %s", hm.folder, strings.Join(says, ", ")),
	}
}

// recordFacts names the files that were not taken for a peer, but for those of dead processes, which are many.
func (hm *home) recordFacts() []reconcile.Fact {
	var facts []reconcile.Fact
	say := func(name string, ok bool, what string) {
		facts = append(facts, reconcile.Fact{
			Check: "claude record", OK: ok, Fact: fmt.Sprintf("%q %s", filepath.Join(hm.folder, name), what),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(hm.odd)) {
		say(name, hm.odd[name] == errName, plain(hm.odd[name]))
	}
	for _, pid := range slices.Sorted(maps.Keys(hm.slots)) {
		s := hm.slots[pid]
		switch {
		case !s.here:
		case s.bad != nil:
			// A young one is most likely just being written.
			say(fileName(pid), s.again && errors.Is(s.bad, ErrTorn), plain(s.bad))
		default:
			if why := s.notPeer(); why != "" {
				say(fileName(pid), true, why)
			}
			for _, b := range s.rec.Bad {
				say(fileName(pid), false, fmt.Sprintf("field %s %s", b.Name, b.Why))
			}
		}
	}
	if n := len(facts) - maxListed; n > 0 {
		facts = append(facts[:maxListed:maxListed], reconcile.Fact{
			Check: "claude record", Fact: fmt.Sprintf("%q has %d more like these", hm.folder, n),
		})
	}
	return facts
}

// notPeer says why a good record is no peer's, "" where it is or where its process is dead.
func (s *slot) notPeer() string {
	switch s.kind {
	case replaced:
		return "is of a process whose pid belongs to another one now"
	case unproven:
		return "is of a process that cannot be asked, or that began after it was written"
	case elsewhere:
		return fmt.Sprintf("is of another pid domain: %q", s.rec.Domain)
	case parked:
		return fmt.Sprintf("is of a session that was handed to the background job %q", s.rec.Parked)
	case spare:
		return "is of a process that was started in advance"
	case courier:
		return "is of a courier of ours"
	}
	return ""
}

func (h *Harness) deathsFact() reconcile.Fact {
	watched, polled := h.deaths.Counts()
	f := reconcile.Fact{Check: "claude deaths", OK: true, Fact: fmt.Sprintf(
		"the ends of %d processes are told by %s, %d of them polled", watched, h.deaths.Mode(), polled)}
	if why := h.deaths.Why(); why != "" {
		f.Fact += ": " + why
	}
	return f
}
