package codex

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// patience is how long anything may take. The slowest thing that a client does of itself, to copy its program, took
	// 12 s on two cores that had much else to do.
	patience = 30 * time.Second
	// pollEvery is how often is looked; each look costs far less.
	pollEvery = 50 * time.Millisecond
)

// Until looks until check answers nil. After 30 s the test ends with the last answer.
func (h *Home) Until(what string, check func() error) {
	h.t.Helper()
	err := check()
	for deadline := time.Now().Add(patience); err != nil; err = check() {
		if time.Now().After(deadline) {
			h.t.Fatalf("waiting until %s: %v", what, err)
		}
		time.Sleep(pollEvery)
	}
}

// dump is what can be seen of the home.
func (h *Home) dump(ctx context.Context) string {
	var b strings.Builder
	for _, w := range h.windows {
		if screen, err := w.screen(ctx); err == nil {
			fmt.Fprintf(&b, "--- window %s ---\n", w.name)
			for line := range strings.Lines(screen) {
				if strings.ContainsAny(line, "0123456789abcdefghijklmnopqrstuvwxyz") { // the rest is blank, or a drawing
					b.WriteString(line)
				}
			}
		}
	}
	locks, err := h.Locks()
	fmt.Fprintf(&b, "--- locks (%v) ---\n", err)
	for thread := range locks {
		state, err := h.State(thread)
		fmt.Fprintf(&b, "%s %+v %v\n", thread, state, err)
	}
	fmt.Fprintf(&b, "--- processes ---\n")
	for _, p := range running(h.Codex()) {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}
