package real

import (
	"fmt"
	"strings"
	"time"
)

const (
	// patience is how long anything may take. The slowest thing that a client does of itself, to hand over a turn
	// that does not end, takes 10 s.
	patience = 30 * time.Second
	// pollEvery is how often is looked; each look costs far less.
	pollEvery = 50 * time.Millisecond
)

// Until looks until check answers nil. After 30 s the test ends with the last answer, every window's screen and every
// record.
func (h *Home) Until(what string, check func() error) {
	h.t.Helper()
	err := check()
	for deadline := time.Now().Add(patience); err != nil; err = check() {
		if time.Now().After(deadline) {
			h.t.Fatalf("waiting until %s: %v\n%s", what, err, h.dump())
		}
		time.Sleep(pollEvery)
	}
}

// dump is what can be seen of the home.
func (h *Home) dump() string {
	var b strings.Builder
	for _, w := range h.windows {
		if screen, err := w.screen(); err == nil {
			fmt.Fprintf(&b, "--- window %s ---\n%s\n", w.name, strings.TrimRight(screen, "\n"))
		}
	}
	records, err := h.Registry()
	fmt.Fprintf(&b, "--- registry (%v) ---\n", err)
	for _, r := range records {
		fmt.Fprintf(&b, "%+v\n", r)
	}
	return b.String()
}
