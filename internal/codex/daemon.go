package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"peerbus/events"
	"peerbus/reconcile"
)

const (
	// retryLeast and retryMost bound how long it takes until a daemon that did not answer is tried again. The longer a
	// connection has lasted, the less it tells that it ended.
	retryLeast, retryMost = time.Second, 30 * time.Second
	// patience is how long a daemon may take to answer at the start of a connection.
	patience = 5 * time.Second
	// maxMessage is how long a message may be: a page of threads has each with the first words that were said in it.
	maxMessage = 16 << 20
	// fallGrace is how long what was heard is kept once the connection has ended.
	fallGrace = 500 * time.Millisecond
	// maxHeard is how many threads are remembered, far more than a daemon can have loaded.
	maxHeard = 10_000
)

var (
	// errNobody is that the socket was left behind by a daemon that did not end by itself.
	errNobody = errors.New("nobody listens at its socket")
	// errIdle is that it holds no thread: it has nothing to tell, and may not have heard of its user yet.
	errIdle = errors.New("holds no thread")
)

// daemon listens to Codex's daemon of one home, for as long as there is one that holds threads. It asks nothing of it
// that changes anything.
type daemon struct {
	home   string
	sooner chan struct{} // a token: another process holds threads now

	mu        sync.Mutex
	holders   map[int]bool // the processes that hold threads of the home
	threads   map[string]heard
	connected bool
	asked     bool  // it was asked how its threads are, and has answered, or cannot be
	why       error // why it is not connected
}

func newDaemon(home string) *daemon {
	return &daemon{home: home, sooner: make(chan struct{}, 1), holders: map[int]bool{}, threads: map[string]heard{}}
}

// holds tells it that a process holds a thread of the home.
func (d *daemon) holds(pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holders[pid] {
		return
	}
	d.holders[pid] = true
	select {
	case d.sooner <- struct{}{}:
	default: // one not yet taken stands for this too
	}
}

// keep forgets all holders but those.
func (d *daemon) keep(pids map[int]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.holders, func(pid int, _ bool) bool { return !pids[pid] })
}

func (d *daemon) isHolder(pid int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.holders[pid]
}

// heard is what the daemon said last of a thread, if it has it.
func (d *daemon) heard(thread string) (heard, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok := d.threads[thread]
	return h, ok
}

func (d *daemon) isConnected() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.connected
}

// wasAsked tells whether it is known by now what the daemon says, or that there is none.
func (d *daemon) wasAsked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// run listens until ctx ends, and wakes for the threads of which something is told, or nothing any more. It begins when
// somebody holds a thread of the home.
func (d *daemon) run(ctx context.Context, wake func(reconcile.Place)) {
	select {
	case <-d.sooner:
	case <-ctx.Done():
	}
	for wait := retryLeast; ctx.Err() == nil; {
		began := time.Now()
		err := d.connect(ctx, wake)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if d.isConnected() {
			// Whoever it held dies with a daemon that dies, and that is about to be noticed.
			pause(ctx, fallGrace, nil)
		}
		d.fall(err, wake)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNobody) || time.Since(began) > retryMost {
			wait = retryLeast // to look for a daemon that is not there costs nothing
		}
		if pause(ctx, wait/2+rand.N(wait/2), d.sooner) {
			wait = retryLeast
		} else {
			wait = min(2*wait, retryMost)
		}
	}
}

// pause waits, and reports whether that was ended by a token.
func pause(ctx context.Context, d time.Duration, sooner <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-sooner:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// fall forgets all that was heard: the connection is over, for the reason why.
func (d *daemon) fall(why error, wake func(reconcile.Place)) {
	d.mu.Lock()
	was := d.threads
	d.threads, d.connected, d.asked, d.why = map[string]heard{}, false, true, why
	d.mu.Unlock()
	for id := range was {
		wake(d.place(id))
	}
}

func (d *daemon) place(thread string) reconcile.Place {
	return reconcile.Place{Harness: events.Codex, Home: d.home, Session: thread}
}

// dial connects to the daemon at a socket, if it holds a thread: then it has heard of its user before it hears of us.
func (d *daemon) dial(ctx context.Context, path string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	pid, err := peerPID(c)
	if err == nil && !d.isHolder(pid) {
		err = errIdle
	}
	if err != nil {
		c.Close() // nothing was said on it
		return nil, err
	}
	return c, nil
}

// connect makes a connection and listens until it ends.
func (d *daemon) connect(ctx context.Context, wake func(reconcile.Place)) error {
	path, err := controlSocket(d.home)
	if err != nil {
		return err
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.dial(ctx, path)
	}}
	defer transport.CloseIdleConnections()
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, _, err := websocket.Dial(soon, "ws://codex/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	switch {
	case errors.Is(err, errIdle):
		return errIdle
	case errors.Is(err, syscall.ECONNREFUSED):
		return errNobody
	case err != nil:
		return fmt.Errorf("connect to the daemon: %w", err)
	}
	defer c.CloseNow() // it keeps nothing of ours
	c.SetReadLimit(maxMessage)
	l := line{conn: c}
	if err := l.greet(soon); err != nil {
		return fmt.Errorf("greet the daemon: %w", err)
	}
	d.mu.Lock()
	d.connected, d.why = true, nil
	d.mu.Unlock()
	return d.listen(ctx, &l, wake)
}

// listen takes what the daemon says until the connection ends. At its beginning it asks which threads the daemon has
// loaded, and then how those are.
func (d *daemon) listen(ctx context.Context, l *line, wake func(reconcile.Place)) error {
	loaded, err := l.ask(ctx, "thread/loaded/list", json.RawMessage("{}"))
	if err != nil {
		return err
	}
	awaited := loaded         // the answer after which all is known that was so before we came
	left := map[string]bool{} // the threads that we do not follow
	for {
		m, err := l.read(ctx)
		if err != nil {
			return err
		}
		at := events.At(time.Now())
		if m.answers == loaded && len(m.loaded) > 0 {
			params, err := listing(m.loaded)
			if err != nil {
				return err
			}
			if awaited, err = l.ask(ctx, "thread/list", params); err != nil {
				return err
			}
		}
		answered := m.answers == awaited
		if answered {
			at = 0
		}
		for _, t := range m.told {
			if d.note(t, at) {
				wake(d.place(t.thread))
			}
		}
		if thread := m.unwanted(left); thread != "" {
			if err := l.leave(ctx, thread); err != nil {
				return err
			}
		}
		if answered {
			d.mu.Lock()
			d.asked = true
			d.mu.Unlock()
		}
	}
}

// note keeps what was told of a thread, and reports whether that is news. What is told in answer to a question, with
// no time, gives way to what was told in the meantime.
func (d *daemon) note(t told, at events.Time) (news bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.threads[t.thread]
	switch {
	case t.status.word == "notLoaded":
		delete(d.threads, t.thread)
		return ok
	case at == 0 && ok, !ok && len(d.threads) >= maxHeard:
		return false
	}
	d.threads[t.thread] = heard{t.status, at}
	return !ok || old.status.word != t.status.word || !slices.Equal(old.status.flags, t.status.flags)
}
