package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

const (
	// answerIn is how long an answer may take.
	answerIn = 2 * time.Second

	// maxAnswers is how many questions are answered at once. Whoever asks one more is told so.
	maxAnswers = 64
)

// desk answers each question in a goroutine of its own, so that a slow answer holds up no other.
type desk struct {
	nc     *nats.Conn
	logger *slog.Logger

	mu      sync.Mutex
	closed  bool
	open    int
	answers sync.WaitGroup
}

// close lets no more in, and waits until all that are in have their answer.
func (d *desk) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.answers.Wait()
}

func (d *desk) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("the watcher is stopping")
	}
	if d.open == maxAnswers {
		return fmt.Errorf("%d questions are being answered, ask again", maxAnswers)
	}
	d.open++
	d.answers.Add(1)
	return nil
}

func (d *desk) leave() {
	d.mu.Lock()
	d.open--
	d.mu.Unlock()
	d.answers.Done()
}

func (d *desk) handler(ctx context.Context, e endpoint) micro.Handler {
	return micro.HandlerFunc(func(q micro.Request) {
		if err := d.enter(); err != nil {
			d.reply(ctx, q, nil, err)
			return
		}
		go func() {
			defer d.leave()
			d.answer(ctx, e, q)
		}()
	})
}

// answer replies when the endpoint has answered, or in 2 s. It returns once the endpoint has, which is told then by
// its context that nobody waits for it any more.
func (d *desk) answer(ctx context.Context, e endpoint, q micro.Request) {
	type answered struct {
		data []byte
		err  error
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	done := make(chan answered, 1)
	go func() {
		data, err := d.safely(ctx, e, q)
		done <- answered{data, err}
	}()
	select {
	case a := <-done:
		d.reply(ctx, q, a.data, a.err)
	case <-ctx.Done():
		d.reply(ctx, q, nil, errors.New("the watcher has no answer in time"))
		<-done
	}
}

// safely turns a panic into an error: one question that the watcher has no good answer to must not end it.
func (d *desk) safely(ctx context.Context, e endpoint, q micro.Request) (data []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			d.logger.WarnContext(ctx, "an answer panicked", "endpoint", e.name, "panic", r, "stack", string(debug.Stack()))
			data, err = nil, errors.New("the watcher cannot answer this")
		}
	}()
	return e.answer(ctx, q.Data())
}

// reply publishes by itself: micro keeps a reply's error where its own goroutine reads it.
func (d *desk) reply(ctx context.Context, q micro.Request, data []byte, err error) {
	if q.Reply() == "" {
		return
	}
	m := &nats.Msg{Subject: q.Reply(), Data: data}
	if err != nil {
		known, ok := errors.AsType[*ServiceError](err)
		if !ok {
			known = &ServiceError{http.StatusServiceUnavailable, err.Error()}
		}
		m.Data, m.Header = nil, nats.Header{
			micro.ErrorCodeHeader: {strconv.Itoa(known.Code)},
			micro.ErrorHeader:     {known.Text},
		}
	}
	if err := d.nc.PublishMsg(m); err != nil && ctx.Err() == nil {
		d.logger.WarnContext(ctx, "an answer was not sent", "subject", q.Subject(), "err", err)
	}
}
