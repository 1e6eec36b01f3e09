package world

import (
	"maps"
	"sync"
	"time"

	"peerbus/events"
)

// Span is how long something that does not happen at one instant took.
type Span struct {
	From time.Time // from here on it may be seen
	To   time.Time // from here on it is so; zero while it is happening
}

// Said is what a session said of its status at one rewrite.
type Said struct {
	At           time.Time // when the rewrite began
	Status       events.Status
	VendorStatus string
	WaitingFor   string
}

// Life is the truth about one peer: one process while it holds one session.
type Life struct {
	Peer events.Peer // as its record says, or last said
	// Left is when the process went over to another session, nil if it did not.
	Left *Span
	// End is when the process ended, nil if it did not, and Reason how.
	End    *Span
	Reason events.Reason
}

// Here tells whether the peer is there and is not about to go.
func (l Life) Here() bool { return l.Left == nil && l.End == nil }

// MayBeGone tells whether a PeerGone with that reason and time is true. A process that left the session and has ended
// by then can have done both between two looks; then its end is as good a reason.
func (l Life) MayBeGone(reason events.Reason, at events.Time) bool {
	since := l.End
	if reason == events.Switched {
		since = l.Left
	} else if reason != l.Reason {
		return false
	}
	return since != nil && at >= events.At(since.From)
}

// Going is from when on the peer may have been seen as gone, zero while it is there.
func (l Life) Going() time.Time {
	if l.Left != nil {
		return l.Left.From
	}
	if l.End != nil {
		return l.End.From
	}
	return time.Time{}
}

// Gone is when the peer was surely gone: as soon as the first of its two ends was complete. The zero time is not yet.
func (l Life) Gone() time.Time {
	if l.Left != nil && !l.Left.To.IsZero() {
		return l.Left.To
	}
	if l.End != nil {
		return l.End.To
	}
	return time.Time{}
}

// Counts are the numbers of what the stand-ins did.
type Counts struct {
	Actions                                         int // all of them
	Starts, Statuses, Renames, Boths, Clears, Quits int
	Kills                                           int
}

// truth is what is so. Peers are known by their ID with an empty host.
type truth struct {
	mu     sync.Mutex
	lives  map[events.ID]*life
	here   map[events.ID]bool
	counts Counts
}

type life struct {
	Life
	said  map[events.Time]Said
	names map[string]bool
}

func newTruth() *truth {
	return &truth{lives: make(map[events.ID]*life), here: make(map[events.ID]bool)}
}

// is notes what a record is about to say.
func (t *truth) is(p events.Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := p.ID("")
	l := t.lives[id]
	if l == nil {
		l = &life{said: make(map[events.Time]Said), names: make(map[string]bool)}
		t.lives[id], t.here[id] = l, true
	}
	l.Peer = p
	l.names[p.Name] = true
	l.said[p.StatusSince] = Said{time.Now(), p.Status, p.VendorStatus, p.WaitingFor}
}

// ending notes that the process of p is about to end; the caller calls ended when it has.
func (t *truth) ending(p events.Peer, reason events.Reason) (ended func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	span := &Span{From: time.Now()}
	delete(t.here, p.ID(""))
	for _, l := range t.lives {
		if l.Peer.PID == p.PID && l.Peer.Start == p.Start {
			l.End, l.Reason = span, reason
		}
	}
	return t.complete(span)
}

// leaving notes that the process of p is about to go over to another session.
func (t *truth) leaving(p events.Peer) (left func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	span := &Span{From: time.Now()}
	delete(t.here, p.ID(""))
	t.lives[p.ID("")].Left = span
	return t.complete(span)
}

func (t *truth) complete(s *Span) func() {
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.To = time.Now()
	}
}

func (t *truth) count(what func(*Counts) *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Actions++
	*what(&t.counts)++
}

// Counts are the counts so far.
func (t *truth) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// Here are the peers that are there, by their ID with an empty host. While stand-ins act that is out of date at once;
// see [World.Quiet].
func (t *truth) Here() map[events.ID]events.Peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[events.ID]events.Peer, len(t.here))
	for id := range t.here {
		out[id] = t.lives[id].Peer
	}
	return out
}

// Life is the truth about a peer, by its ID with an empty host, and whether there ever was one.
func (t *truth) Life(id events.ID) (Life, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, ok := t.lives[id]
	if !ok {
		return Life{}, false
	}
	return l.copied(), true
}

// Lives is the truth about every peer that ever was.
func (t *truth) Lives() map[events.ID]Life {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[events.ID]Life, len(t.lives))
	for id, l := range t.lives {
		out[id] = l.copied()
	}
	return out
}

// Said is what a peer said of its status since then, and whether it did.
func (t *truth) Said(id events.ID, since events.Time) (Said, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lives[id]; l != nil {
		s, ok := l.said[since]
		return s, ok
	}
	return Said{}, false
}

// Names are all names that a peer ever had.
func (t *truth) Names(id events.ID) map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lives[id]; l != nil {
		return maps.Clone(l.names)
	}
	return nil
}

func (l *life) copied() Life {
	c := l.Life
	if c.Left != nil {
		c.Left = new(*c.Left)
	}
	if c.End != nil {
		c.End = new(*c.End)
	}
	return c
}
