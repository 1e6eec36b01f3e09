package real

import (
	"errors"
	"fmt"
	"regexp"
)

// Want is something that a record is to say. It answers nil when it does.
type Want func(Record) error

// Status wants that status, in the client's word, and that it waits for that; "" is for nothing.
func Status(status, waitingFor string) Want {
	return func(r Record) error {
		if r.Status != status || r.WaitingFor != waitingFor {
			return fmt.Errorf("status %q, waiting for %q", r.Status, r.WaitingFor)
		}
		return nil
	}
}

// Named wants that name.
func Named(name string) Want {
	return func(r Record) error {
		if r.Name != name {
			return fmt.Errorf("named %q", r.Name)
		}
		return nil
	}
}

// Until waits until the record of the window's process is as wanted, and returns it.
func (w *Window) Until(what string, want Want) Record {
	w.home.t.Helper()
	return w.home.record("window "+w.name+": "+what, func(r Record) bool { return r.PID == w.PID }, want)
}

// Record is the record of the window's process.
func (w *Window) Record() Record {
	w.home.t.Helper()
	return w.Until("it has a record", func(Record) error { return nil })
}

// Job waits until the record of the background job of that id is as wanted, and returns it.
func (h *Home) Job(id, what string, want Want) Record {
	h.t.Helper()
	return h.record("job "+id+": "+what, func(r Record) bool { return r.Job == id && !r.Spare }, want)
}

// record waits until a live record that is meant is as wanted.
func (h *Home) record(what string, meant func(Record) bool, want Want) Record {
	h.t.Helper()
	var found Record
	h.Until(what, func() error {
		records, err := h.Registry()
		if err != nil {
			return err
		}
		for _, r := range records {
			if meant(r) && r.alive() {
				found = r
				return want(r)
			}
		}
		return errors.New("no such live record")
	})
	return found
}

// Accept takes what a dialog offers first, and returns when the client waits for nothing any more. A dialog does not
// listen at once when it is there, so Enter is pressed until it has gone; behind it Enter does nothing.
func (w *Window) Accept() {
	w.home.t.Helper()
	w.Until("its dialog has gone", func(r Record) error {
		if r.Status != "waiting" {
			return nil
		}
		w.Press("Enter")
		return errors.New("it waits for " + r.WaitingFor)
	})
}

// moved is what a window says behind "Your session", or "Your conversation" in older clients.
const moved = "moved to the background"

// Park hands the session to a background job in the middle of a turn, by the left arrow, and returns the job's id. A
// turn that does not end is taken over after 10 s. The window then shows its background sessions.
func (w *Window) Park() (job string) {
	w.home.t.Helper()
	w.Press("Left")
	r := w.Until("it is parked", func(r Record) error {
		if r.Parked == "" {
			return errors.New("no parkedJobId")
		}
		return nil
	})
	w.Shows(moved)
	return r.Parked
}

var backgrounded = regexp.MustCompile(`backgrounded · ([0-9a-f]+)`)

// Background starts a session without a window, says text in it, and returns the job's id.
func (h *Home) Background(c Client, text string) (job string) {
	h.t.Helper()
	out, err := h.run(c, "--bg", "--permission-mode", "manual", text)
	if err != nil {
		h.t.Fatal(err)
	}
	m := backgrounded.FindSubmatch(out)
	if m == nil {
		h.t.Fatalf("no job in %q", out)
	}
	return string(m[1])
}

// Stop ends the background job of that id.
func (h *Home) Stop(c Client, job string) {
	h.t.Helper()
	if _, err := h.run(c, "stop", job); err != nil {
		h.t.Fatal(err)
	}
}
