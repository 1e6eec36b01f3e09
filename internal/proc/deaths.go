package proc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Deaths tells when processes end. Where the kernel tells it, that takes less than a millisecond and costs nothing
// while nobody ends; what the kernel does not tell of is asked for again and again.
type Deaths struct {
	log  *slog.Logger
	open func() (notices, error)
	look func(Identity) Sight // Check

	wakeup chan struct{} // ends a wait where there are no notices

	mu      sync.Mutex
	phase   phase
	notices notices // nil: all are polled
	mode    string
	why     error // why all, or lately some, are polled
	serial  uint64
	byID    map[Identity]*watch
	byKey   map[uint64]*watch
	polled  map[uint64]*watch // those of byKey that are polled
	next    time.Time         // when they are asked next
}

type phase int

const (
	fresh  phase = iota
	ready        // notices were asked for
	closed       // Run has ended
)

// watch is one identity that is watched. Keys are never used twice, so that a notice for an identity that was
// forgotten meanwhile fits nobody.
type watch struct {
	id      Identity
	key     uint64
	verdict Verdict // what it was when it was last asked: Alive or Unknown
}

// notices is the kernel's way to tell of ends. All but wait is called by one goroutine at a time; wait may run beside
// the others, except close.
type notices interface {
	// mode is its name, for [Deaths.Mode].
	mode() string
	// add has the end of id told under key. Alive: it will be; Dead and Replaced: id is not there. An error: it
	// cannot be told, nothing was added.
	add(id Identity, key uint64) (Verdict, error)
	// drop takes key out, if it is there.
	drop(key uint64)
	// wait returns the keys whose processes have ended, and those of which a notice came that does not prove it.
	// It ends when there are some, after the timeout if that is not negative, or soon after wake.
	wait(timeout time.Duration) (ended, doubtful []uint64, err error)
	wake()
	close()
}

var (
	errClosed   = errors.New("the watch for deaths has ended")
	errDoubtful = errors.New("a notice of a death came too early or too late")
)

// NewDeaths watches nobody yet. It opens nothing and starts no goroutine.
func NewDeaths(log *slog.Logger) *Deaths {
	return &Deaths{
		log: log, open: openNotices, look: Check,
		wakeup: make(chan struct{}, 1),
		byID:   map[Identity]*watch{}, byKey: map[uint64]*watch{}, polled: map[uint64]*watch{},
	}
}

// Watch watches id from now on, if it is there, and returns what it is now. Alive: its end will be told; Dead and
// Replaced: it is not watched; Unknown: it could not be asked, and will be asked again until it can be. To watch what
// is watched changes nothing. It may be called at any time, before Run too, and by several goroutines; once Run has
// returned it only answers. A pid that is not valid is Unknown and not watched.
func (d *Deaths) Watch(id Identity) Verdict {
	if !ValidPID(int64(id.PID)) {
		return Unknown
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, ok := d.byID[id]; ok {
		return w.verdict
	}
	if d.setUp(); d.phase == closed {
		return d.look(id).Verdict
	}
	d.serial++
	w := &watch{id: id, key: d.serial}
	told := d.arm(w)
	if w.verdict == Dead || w.verdict == Replaced {
		return w.verdict
	}
	d.byID[id], d.byKey[w.key] = w, w
	if !told {
		d.poll(w)
		d.wake()
	}
	return w.verdict
}

// Forget stops watching id. A notice that is on its way may still come.
func (d *Deaths) Forget(id Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, ok := d.byID[id]; ok {
		d.remove(w)
	}
}

// Run calls dead once for each watched identity that died or was replaced, in the goroutine that called Run, until
// ctx ends, whose cause it returns. dead may call Watch and Forget. Run is called once, and gives back the
// descriptors that Watch took.
func (d *Deaths) Run(ctx context.Context, dead func(Identity)) error {
	d.mu.Lock()
	d.setUp()
	d.mu.Unlock()
	defer d.release()
	ctx, cancel := context.WithCancel(ctx)
	var waker sync.WaitGroup
	waker.Go(func() {
		<-ctx.Done()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.wake()
	})
	defer waker.Wait()
	defer cancel()
	for ctx.Err() == nil {
		for _, id := range d.wait() {
			dead(id)
		}
	}
	return context.Cause(ctx)
}

// Mode is by which means deaths are noticed: "pidfd", "kqueue" or "polled".
func (d *Deaths) Mode() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setUp()
	return d.mode
}

// Why is the reason for which all or some are polled, "" where none is.
func (d *Deaths) Why() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.setUp(); d.why == nil || d.notices != nil && len(d.polled) == 0 {
		return ""
	}
	return d.why.Error()
}

// Counts is how many identities are watched, and how many of these are polled.
func (d *Deaths) Counts() (watched, polled int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.byKey), len(d.polled)
}

// setUp asks the kernel for notices, once. d.mu is held, as in all that follow.
func (d *Deaths) setUp() {
	if d.phase != fresh {
		return
	}
	d.phase = ready
	n, err := d.open()
	if err != nil {
		d.mode, d.why = "polled", err
		d.log.Info("deaths are polled", "err", err)
		return
	}
	d.notices, d.mode = n, n.mode()
}

// arm has the kernel tell of w's end, or tells why not and only asks what w is.
func (d *Deaths) arm(w *watch) (told bool) {
	if d.notices != nil {
		v, err := d.notices.add(w.id, w.key)
		if err == nil {
			w.verdict = v
			return v == Alive
		}
		d.why = err
	}
	w.verdict = d.look(w.id).Verdict
	return false
}

func (d *Deaths) wake() {
	if d.notices != nil {
		d.notices.wake()
	}
	select {
	case d.wakeup <- struct{}{}:
	default: // one that was not yet taken stands for this one too
	}
}

func (d *Deaths) remove(w *watch) {
	delete(d.byID, w.id)
	delete(d.byKey, w.key)
	delete(d.polled, w.key)
	if d.notices != nil {
		d.notices.drop(w.key)
	}
}

func (d *Deaths) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.notices != nil {
		d.notices.close()
	}
	d.phase, d.notices, d.why = closed, nil, errClosed
	clear(d.byID)
	clear(d.byKey)
	clear(d.polled)
}
