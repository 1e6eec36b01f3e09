package occupancy

import (
	"context"
	"sync"
	"time"
)

// A look is followed by a rest of restTimes what it took, at most of maxRest. So however fast somebody asks, looking
// takes a fifth of one core, and not what the watcher needs to see what happens.
const (
	restTimes = 4
	maxRest   = 100 * time.Millisecond
)

// shared lets all who wait at the same time share one look, which begins after the last of them came.
type shared struct {
	look  Look
	begin func(func()) bool // starts a goroutine, or cannot

	mu   sync.Mutex
	now  *turn // the look that is under way or rests, nil if there is none or it was given up
	next *turn // the one that begins when that has ended, of those who came meanwhile
}

// turn is one look.
type turn struct {
	done  chan struct{} // closed when the rest is set
	began time.Time
	about About
	err   error
}

// wait returns a look that began after wait was called. The error is the look's, or the cause of ctx.
func (s *shared) wait(ctx context.Context) (*turn, error) {
	s.mu.Lock()
	if s.next == nil {
		s.next = &turn{done: make(chan struct{})}
	}
	t := s.next
	s.beginNext(ctx)
	s.mu.Unlock()
	select {
	case <-t.done:
		return t, t.err
	case <-ctx.Done():
		s.giveUp(ctx, t)
		return nil, context.Cause(ctx)
	}
}

// beginNext begins the next look, if it is wanted and none is under way. It is called with mu held.
func (s *shared) beginNext(ctx context.Context) {
	if s.now != nil || s.next == nil {
		return
	}
	t := s.next
	s.now, s.next = t, nil
	t.began = time.Now()
	// The look is for all who wait: it does not end with the one whose question began it.
	ctx = context.WithoutCancel(ctx)
	if !s.begin(func() { s.run(ctx, t) }) {
		t.err = errBusy
		s.now = nil
		close(t.done)
	}
}

func (s *shared) run(ctx context.Context, t *turn) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	t.err = safely(func() (err error) {
		t.about, err = s.look(ctx)
		return err
	})
	close(t.done)
	time.Sleep(min(restTimes*time.Since(t.began), maxRest))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == t {
		s.now = nil
		s.beginNext(ctx)
	}
}

// giveUp lets the next look begin, if t is the one under way: nobody should wait behind a look that hangs.
func (s *shared) giveUp(ctx context.Context, t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == t {
		s.now = nil
		s.beginNext(ctx)
	}
}
