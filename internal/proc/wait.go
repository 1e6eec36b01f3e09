package proc

import (
	"fmt"
	"time"
)

const (
	// pollMany is up to how many polled processes are asked every pollSoon; more are asked every pollLater, so that
	// polling a thousand takes under 1 % of one core.
	pollMany  = 100
	pollLater = time.Second
)

func pollEvery(polled int) time.Duration {
	if polled <= pollMany {
		return pollSoon
	}
	return pollLater
}

// wait waits for ends, until the next polling at most, and returns those who ended. They are not watched any more.
func (d *Deaths) wait() []Identity {
	n, timeout := d.until()
	var told, doubtful []uint64
	var err error
	if n != nil {
		told, doubtful, err = n.wait(timeout)
	} else {
		d.sleep(timeout)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.lose(fmt.Errorf("wait for deaths: %w", err))
	}
	var ended []Identity
	for _, key := range told {
		if w, ok := d.byKey[key]; ok {
			d.remove(w)
			ended = append(ended, w.id)
		}
	}
	for _, key := range doubtful {
		if w, ok := d.byKey[key]; ok {
			d.why = errDoubtful
			d.poll(w)
		}
	}
	return append(ended, d.pollDue(time.Now())...)
}

// until is what to wait with and for how long; negative is without an end.
func (d *Deaths) until() (notices, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.polled) == 0 {
		return d.notices, -1
	}
	return d.notices, max(0, time.Until(d.next))
}

func (d *Deaths) sleep(timeout time.Duration) {
	if timeout < 0 {
		<-d.wakeup
		return
	}
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-t.C:
	case <-d.wakeup:
	}
}

// poll has w polled from now on. d.mu is held, as in all that follow.
func (d *Deaths) poll(w *watch) {
	if len(d.polled) == 0 {
		d.next = time.Now().Add(pollSoon)
		if d.notices != nil {
			d.log.Warn("some deaths are polled", "err", d.why)
		}
	}
	d.polled[w.key] = w
}

// pollDue asks all that are polled, when their time has come, and returns those who ended. Where the kernel tells of
// deaths, each is offered to it again first.
func (d *Deaths) pollDue(now time.Time) []Identity {
	if len(d.polled) == 0 || now.Before(d.next) {
		return nil
	}
	var ended []Identity
	for key, w := range d.polled {
		told := d.arm(w)
		switch {
		case w.verdict == Dead || w.verdict == Replaced:
			d.remove(w)
			ended = append(ended, w.id)
		case told:
			delete(d.polled, key)
		}
	}
	d.next = now.Add(pollEvery(len(d.polled)))
	return ended
}

// lose goes on without notices: all are polled from now on.
func (d *Deaths) lose(err error) {
	d.log.Warn("deaths are polled from now on", "err", err)
	d.notices.close()
	d.notices, d.mode, d.why = nil, "polled", err
	for _, w := range d.byKey {
		d.poll(w)
	}
}
