package codex

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"peerbus/events"
)

// call gives the peers of a thread a name in the story.
func (w *watcher) call(name, thread string) { w.names[thread] = name }

// tells waits until the story goes on as in the pattern, and with nothing else. Each line of a story has its end; the
// lines given are put together.
func (w *watcher) tells(lines ...string) {
	w.t.Helper()
	pattern := strings.Join(lines, "\n") + "\n"
	re := regexp.MustCompile(`^(?:` + pattern + `)$`)
	w.home.Until("the watcher tells", func() error {
		log, err := w.log()
		if err != nil {
			return err
		}
		if len(log) < w.told {
			return fmt.Errorf("%d events, want the %d that were told", len(log), w.told)
		}
		if got := strings.Join(append(w.story(log[w.told:]), ""), "\n"); !re.MatchString(got) {
			return fmt.Errorf("the story: %q, want it like %q", got, pattern)
		}
		w.told = len(log)
		return nil
	})
}

// appears is the pattern of a peer that is given its task at once: it is a peer before that is written down.
func appears(name string) string {
	return name + " appeared: (?:unknown\n" + name + ": )?busy"
}

// exits is the pattern of a peer that ends with its turn: it may be gone before the turn's end is seen.
func exits(name string) string {
	return "(?:" + name + ": idle\n)?" + name + " gone: exited"
}

func dies(name string) string { return name + " gone: died" }

func inAnyOrder(a, b string) string { return "(?:" + a + "\n" + b + "|" + b + "\n" + a + ")" }

// story is a log in words, a line for each event that a user would want to hear of. The facts that a thread's rollout
// adds once it is there have no line, and that nothing is known of what a thread does has none but at its appearance.
func (w *watcher) story(log []events.Last) []string {
	var lines []string
	for _, l := range log {
		if line := w.line(l.Event); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (w *watcher) line(e events.Event) string {
	p, _ := events.PeerOf(e)
	who := cmp.Or(w.names[p.Session], p.Harness+" "+p.Session)
	switch e := e.(type) {
	case events.WatchResumed:
		return "watch resumed: " + string(e.Why)
	case events.PeerAppeared:
		return who + " appeared: " + doing(p)
	case events.StatusChanged:
		if doing(p) == string(events.Unknown) {
			return ""
		}
		return who + ": " + doing(p)
	case events.PeerChanged:
		return ""
	case events.PeerGone:
		s := who + " gone: " + string(e.Reason)
		if e.Missed {
			s += ", missed"
		}
		return s
	}
	return fmt.Sprintf("%T", e)
}

func doing(p events.Peer) string {
	s := string(status(p))
	if p.WaitingFor != "" {
		s += " for " + p.WaitingFor
	}
	return s
}

// status is that of p, as far as it has it from a rollout. Before the first turn, of which alone a rollout tells, a
// daemon may say that a thread is idle, sooner or later or not at all.
func status(p events.Peer) events.Status {
	const daemonsWord = "idle"
	if p.Status == events.Idle && p.VendorStatus == daemonsWord {
		return events.Unknown
	}
	return p.Status
}
