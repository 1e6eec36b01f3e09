package claude

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"peerbus/events"
)

func TestDoctorEscapesWhatATerminalWouldObey(t *testing.T) {
	const hostile = "\x1b]0;x\x07\n\u202e"
	w, p, q := newWorld(t), spawn(t), spawn(t)
	r := p.idle("s" + hostile)
	r.Name, r.Parked = hostile, hostile
	w.write(r)
	r = q.idle("t")
	r.Domain = "linux:" + hostile
	w.write(r)
	w.h.domain = "linux:m"
	w.read()
	for _, f := range w.h.Facts() {
		if q := strconv.Quote(f.Fact); strings.Contains(q, `\x1b`) && !strings.Contains(q, `\\x1b`) || strings.Contains(f.Fact, "\n") {
			t.Errorf("unescaped: %q", f.Fact)
		}
	}
	w.says("handed to the background job", `\x1b]0;x\a\n`)
	e := w.h.Explain(t.Context(), events.Peer{Session: "u", PID: p.pid, Start: hostile, Home: w.dir})
	for _, ev := range e.Evidence {
		if strings.Contains(ev.Says+ev.About, "\x1b") {
			t.Errorf("unescaped: %q", ev.Says+ev.About)
		}
	}
}

func TestDoctorNamesFieldsThatWereNotTaken(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	data := `{"pid":` + strconv.Itoa(p.pid) + `,"sessionId":"s","name":7,"status":"idle","status":"busy"}`
	w.must(os.WriteFile(w.file(p.pid), []byte(data), 0o600))
	w.read()
	w.skew = bareGrace
	w.read()
	w.holds("s")
	w.says("bad claude record", fileName(p.pid), "field name is no string")
	w.says("bad claude record", fileName(p.pid), "field status is there twice")
}

func TestDoctorBoundsItsList(t *testing.T) {
	w := newWorld(t)
	for pid := range maxListed + 5 {
		w.must(os.WriteFile(w.file(1000+pid), []byte("x"), 0o600))
	}
	w.read()
	n := 0
	for _, f := range w.h.Facts() {
		if f.Check == "claude record" {
			n++
		}
	}
	if n != maxListed+1 {
		t.Errorf("%d lines", n)
	}
	w.says("has 5 more like these")
}

func TestReadAndFactsAndExplainSideBySide(t *testing.T) {
	w, p := newWorld(t), spawn(t)
	w.write(p.idle("s"))
	w.read()
	peer := w.only()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			w.h.Facts()
			w.h.Explain(t.Context(), peer)
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			w.read(w.at(p.pid))
		}
	}
}
