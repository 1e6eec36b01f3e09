package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxAlike is how many failures of one kind a scenario prints; the others are counted.
const maxAlike = 10

// report is what comes out of a scenario. It may be told from several goroutines.
type report struct {
	name string
	out  io.Writer

	mu       sync.Mutex
	failures int
	alike    map[string]int // by their formats
	facts    []string
}

// failf tells a failure, in one line.
func (r *report) failf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alike == nil {
		r.alike = make(map[string]int)
	}
	r.failures++
	if r.alike[format]++; r.alike[format] <= maxAlike {
		fmt.Fprintf(r.out, "%s: FAIL: %s\n", r.name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
}

// factf adds to the summary.
func (r *report) factf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts = append(r.facts, fmt.Sprintf(format, args...))
}

// summary prints the line that ends a scenario, and tells whether it passed.
func (r *report) summary(took time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := "ok"
	if r.failures > 0 {
		verdict = thousands(r.failures) + " failures"
	}
	facts := append(slices.Clone(r.facts), took.Round(100*time.Millisecond).String())
	fmt.Fprintf(r.out, "%s: %s: %s\n", r.name, strings.Join(facts, ", "), verdict)
	return r.failures == 0
}

// thousands is n as it is read easily: 41,234.
func thousands[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// durations collects measurements. It may be told from several goroutines.
type durations struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *durations) add(x time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, x)
}

// quantile is the measurement below which the part p of all lie, 0 if there is none.
func (d *durations) quantile(p float64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) == 0 {
		return 0
	}
	slices.Sort(d.all)
	return d.all[min(int(p*float64(len(d.all))), len(d.all)-1)]
}

func (d *durations) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// String is the median, the 99th percentile and the longest.
func (d *durations) String() string {
	show := func(p float64) string { return d.quantile(p).Round(10 * time.Microsecond).String() }
	return fmt.Sprintf("p50 %s, p99 %s, max %s", show(0.5), show(0.99), show(1))
}
