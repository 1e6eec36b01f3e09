package occupancy

import (
	"context"
	"fmt"
	"time"
)

const (
	// Patience is how long a question waits for its evidence. The service answers within 2 s or not at all, and this
	// leaves it time to send the verdict that there was none.
	Patience = 1800 * time.Millisecond

	// most is how many questions and looks there are at a time, those that hang included. One that hangs in the kernel
	// holds a thread of the operating system until the kernel lets go of it.
	most = 128
)

// Look reads what a harness tells of who holds its threads, all of it, as it is now. It should end when ctx does; one
// that does not is left behind.
type Look func(ctx context.Context) (About, error)

// About says what a [Look] came to for one thread. It is called once or more, from any goroutine.
type About func(ctx context.Context, thread string) Found

// Ledger reads which processes we have started, in this life of the machine. Where it fails nobody is ours.
type Ledger func(ctx context.Context) ([]Process, error)

// Gatherer answers questions. Its methods may be called from many goroutines.
type Gatherer struct {
	disabled bool
	looks    map[string]*shared
	ledger   Ledger
	slots    chan struct{} // one for each goroutine
}

// NewGatherer looks by one function for each harness that has a detector; the other harnesses' detectors are
// unavailable. Disabled, it answers that attaching is, and looks at nothing.
func NewGatherer(looks map[string]Look, ledger Ledger, disabled bool) *Gatherer {
	g := &Gatherer{
		disabled: disabled, ledger: ledger,
		looks: map[string]*shared{}, slots: make(chan struct{}, most),
	}
	for harness, look := range looks {
		g.looks[harness] = &shared{look: look, begin: g.begin}
	}
	return g
}

// Ask answers in [Patience] or as soon as ctx ends: what panics, fails or is not there by then is [ProbeFailed]. The
// verdict rests on a look that began after Ask was called; those who wait at the same time share one.
func (g *Gatherer) Ask(ctx context.Context, q Question) Verdict {
	asked := time.Now()
	look := g.looks[q.Harness]
	if q.wrong() != "" || g.disabled || look == nil {
		return Judge(q, Evidence{At: asked, Disabled: g.disabled})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("there was no evidence within %s", Patience))
	defer cancel()
	gathered := make(chan Evidence, 1)
	began := g.begin(func() {
		ev := Evidence{At: asked}
		if err := safely(func() error { return g.gather(ctx, look, q, &ev) }); err != nil {
			ev.Found = failed(err)
		}
		gathered <- ev
	})
	if !began {
		return Judge(q, Evidence{At: asked, Found: failed(errBusy)})
	}
	select {
	case ev := <-gathered:
		return Judge(q, ev)
	case <-ctx.Done():
		return Judge(q, Evidence{At: asked, Found: failed(context.Cause(ctx))})
	}
}

func (g *Gatherer) gather(ctx context.Context, look *shared, q Question, ev *Evidence) error {
	t, err := look.wait(ctx)
	if err != nil {
		return err
	}
	found := t.about(ctx, q.Thread)
	if len(found.Owners) > 0 && g.ledger != nil {
		ev.Ours, _ = g.ledger(ctx) // of one that cannot be read, nobody is ours
	}
	ev.At, ev.Found = t.began, found
	return nil
}

// Close lets no more questions in, and waits for what is under way for [Patience] at the most: what hangs in the kernel
// ends with the process. It is called once.
func (g *Gatherer) Close() {
	limit := time.After(Patience)
	for range most {
		select {
		case g.slots <- struct{}{}:
		case <-limit:
			return
		}
	}
}

// begin runs f in a goroutine for which [Gatherer.Close] waits, unless too many are there.
func (g *Gatherer) begin(f func()) bool {
	select {
	case g.slots <- struct{}{}:
	default:
		return false
	}
	go func() {
		defer func() { <-g.slots }()
		f()
	}()
	return true
}

var errBusy = fmt.Errorf("%d probes are under way or hang", most)

// failed is that nothing can be said, for the reason err.
func failed(err error) Found {
	return Found{Doubts: []Doubt{{Reason: ProbeFailed, About: "the look", Why: err.Error()}}}
}

// safely turns a panic into an error: whatever a probe meets must not end the program that asks.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the probe has panicked: %v", r)
		}
	}()
	return f()
}
