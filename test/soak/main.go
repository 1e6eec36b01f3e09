// Soak runs the watcher against stand-in sessions for a while, hurts it, and holds what it says against the truth.
//
//	go run ./test/soak [-run storm,crash,fence,disk,subscribers] [-seed N] [-keep]
//
// The counts and durations are multiplied by $PEERBUS_SCALE. It prints a line per failure and a summary, and exits
// with 1 if there was a failure, with 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"peerbus/test/soak/world"
)

// scenario is one way to hurt the watcher.
type scenario struct {
	name string
	// run tells failures to the report. Its error is why it could not go on, errSkip among them.
	run func(context.Context, *bench, *report) error
}

var scenarios = []scenario{
	{"storm", storm},
	{"crash", crash},
	{"fence", fence},
	{"disk", disk},
	{"subscribers", subscribers},
}

func main() {
	world.StandIn()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := soak(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func soak(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "soak:", err)
		}
		return 2
	}
	b, err := newBench(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, "soak:", err)
		return 1
	}
	fmt.Fprintf(stdout, "seed %d, scale %v\n", o.seed, o.scale)
	var passed, failed, skipped int
	for _, s := range scenarios {
		if !slices.Contains(o.run, s.name) {
			continue
		}
		if ctx.Err() != nil {
			fmt.Fprintln(stdout, s.name+": not run, interrupted")
			failed++
			continue
		}
		r := &report{name: s.name, out: stdout}
		begun := time.Now()
		switch err := s.run(ctx, b, r); {
		case errors.Is(err, errSkip):
			fmt.Fprintf(stdout, "%s: %v\n", s.name, err)
			skipped++
			continue
		case err != nil:
			r.failf("%v", err)
		}
		if r.summary(time.Since(begun)) {
			passed++
		} else {
			failed++
		}
	}
	b.close(o.keep && failed > 0, stdout)
	fmt.Fprintf(stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	o := options{scale: 1}
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	run := f.String("run", strings.Join(names, ","), "the `scenarios` to run")
	f.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano())&0xffffff, "what the random actions are drawn from")
	f.BoolVar(&o.keep, "keep", false, "keep the state folders after a failure")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.run = strings.Split(*run, ",")
	for _, name := range o.run {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("there is no scenario %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	var err error
	o.scale, err = scaleOf(os.Getenv("PEERBUS_SCALE"))
	return o, err
}
