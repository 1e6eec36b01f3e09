package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"peerbus/events"
	"peerbus/internal/screen"
)

// peerLine is a live peer as `ls --json` prints it.
type peerLine struct {
	Host string      `json:"host"`
	Seq  uint64      `json:"seq"` // of the last event about it
	Peer events.Peer `json:"peer"`
}

// printJSON prints one object a line, with nothing in it that acts on a terminal.
func (e env) printJSON(v json.Marshaler) error {
	data, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = e.out.Write(append(screen.CleanJSON(data), '\n'))
	return err
}

// plain is a value that is printed as encoding/json has it.
type plain[T any] struct{ v T }

func (p plain[T]) MarshalJSON() ([]byte, error) { return json.Marshal(p.v) }

// eventLine is an event as `tail --json` prints it: the event's object with its sequence in front.
type eventLine events.Last

// MarshalJSON puts the sequence in front of the event's own keys.
func (l eventLine) MarshalJSON() ([]byte, error) {
	data, err := events.Encode(l.Event)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"seq":%d,`, l.Seq), data[1:]...), nil
}

// printEvent prints an event as a line.
func (e env) printEvent(l events.Last) error {
	if e.JSON {
		return e.printJSON(eventLine(l))
	}
	_, err := fmt.Fprintln(e.out, e.sentence(l.Event))
	return err
}

// sentence is an event for people: the local time, whom it is about, and what happened.
func (e env) sentence(ev events.Event) string {
	what, color := happened(ev)
	who := "watcher"
	if p, ok := events.PeerOf(ev); ok {
		who = label(p)
	}
	at := ev.Head().Time.Std().Local().Format(time.TimeOnly)
	left := e.out.Width - len(at) - len("  ") - len("  ")
	whoWidth := min(24, left/2)
	who = screen.Pad(screen.Cut(screen.Clean(who), whoWidth), whoWidth)
	what = screen.Cut(screen.Clean(what), left-whoWidth)
	return e.out.Paint(screen.Faint, at) + "  " + who + "  " + e.out.Paint(color, what)
}

// label is how a person knows a peer: its name, else the beginning of its session.
func label(p events.Peer) string {
	if p.Name != "" {
		return p.Name
	}
	return p.Session[:min(len(p.Session), 8)]
}

func happened(ev events.Event) (string, screen.Color) {
	switch ev := ev.(type) {
	case events.PeerAppeared:
		return "appeared, " + doing(ev.Peer) + in(ev.Peer.Cwd), screen.Good
	case events.StatusChanged:
		return doing(ev.Peer), colorOf(ev.Peer.Status)
	case events.PeerChanged:
		return changed(ev), screen.Plain
	case events.PeerPresent:
		return "still there, " + doing(ev.Peer), screen.Faint
	case events.PeerGone:
		return gone(ev), screen.Bad
	case events.WatchResumed:
		return resumed(ev), screen.Faint
	}
	return fmt.Sprintf("%T", ev), screen.Plain
}

func in(cwd string) string {
	if cwd == "" {
		return ""
	}
	return " in " + cwd
}

// doing is a peer's status in words, the harness's own word beside it where that says more. Codex has no words for it but
// the names of its turns' marks.
func doing(p events.Peer) string {
	s := string(p.Status)
	if p.VendorStatus != "" && p.VendorStatus != s && (p.Harness != events.Codex || p.Status == events.Unknown) {
		s += " (" + p.VendorStatus + ")"
	}
	if p.WaitingFor != "" {
		s += ": " + p.WaitingFor
	}
	return s
}

func colorOf(s events.Status) screen.Color {
	switch s {
	case events.Busy:
		return screen.Good
	case events.Waiting:
		return screen.Notice
	case events.Unknown:
		return screen.Bad
	}
	return screen.Plain
}

func changed(ev events.PeerChanged) string {
	if ev.Was.Has("name") {
		return "is " + ev.Peer.Name + " now, was " + ev.Was.Old.Name
	}
	return "changed " + strings.Join(ev.Was.Fields, ", ")
}

func gone(ev events.PeerGone) string {
	text := "gone: " + string(ev.Reason)
	if ev.Job != "" {
		text += ", goes on as job " + ev.Job
	}
	if ev.Reason == events.Switched && ev.Successor.Session != "" {
		text += ", to " + ev.Successor.Session
	}
	if ev.Missed {
		text += ", some time after " + local(ev.NotBefore)
	}
	return text
}

func resumed(ev events.WatchResumed) string {
	if ev.BlindFrom == 0 {
		return "watching for the first time"
	}
	return fmt.Sprintf("nobody watched since %s (%s)", local(ev.BlindFrom), ev.Why)
}

// local is a time for people: the day only where it is not today.
func local(t events.Time) string {
	if t == 0 {
		return "?"
	}
	at, now := t.Std().Local(), time.Now()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// age is how long ago t was, in one unit.
func age(t events.Time, now time.Time) string {
	if t == 0 {
		return "?"
	}
	d := max(now.Sub(t.Std()), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// printPeers prints live peers: a table for people, an object a line for programs.
func (e env) printPeers(peers []peerLine) error {
	if e.JSON {
		for _, l := range peers {
			if err := e.printJSON(plain[peerLine]{l}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(peers) == 0 {
		_, err := fmt.Fprintln(e.out, e.out.Paint(screen.Faint, "no live peers"))
		return err
	}
	columns := []screen.Column{{Title: "NAME", Most: 24}, {Title: "STATUS", Most: 28}, {Title: "FOR"}, {Title: "HARNESS"}, {Title: "PID"}, {Title: "SESSION"}, {Title: "FOLDER"}}
	rows := make([][]screen.Cell, 0, len(peers))
	now := time.Now()
	for _, l := range peers {
		p := l.Peer
		rows = append(rows, []screen.Cell{
			{Text: label(p), Color: screen.Strong},
			{Text: doing(p), Color: colorOf(p.Status)},
			{Text: age(p.StatusSince, now)},
			{Text: p.Harness, Color: screen.Faint},
			{Text: fmt.Sprint(p.PID), Color: screen.Faint},
			{Text: p.Session[:min(len(p.Session), 8)], Color: screen.Faint},
			{Text: p.Cwd},
		})
	}
	return e.out.Table(columns, rows)
}

// printItem prints a yes or a no, told apart without color too, about what it is, and a note below it.
func (e env) printItem(ok bool, head, text, note string) error {
	const headWidth = 14
	const indent = 2 + headWidth + 1
	sign, color := "+", screen.Good
	if !ok {
		sign, color = "-", screen.Bad
	}
	width := e.out.Width - indent
	line := fmt.Sprintf("%s %-*s %s\n", e.out.Paint(color, sign), headWidth, screen.Clean(head), screen.Wrap(screen.Clean(text), width, indent))
	if note != "" {
		line += strings.Repeat(" ", indent) + e.out.Paint(screen.Faint, screen.Wrap(screen.Clean(note), width, indent)) + "\n"
	}
	_, err := io.WriteString(e.out, line)
	return err
}
