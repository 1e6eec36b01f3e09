package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// ServiceError is a service's answer that it has none.
type ServiceError struct {
	Code int // 400 a bad request, 404 not there, 410 gone, 503 not able to answer now
	Text string
}

func (e *ServiceError) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// askPatience is how long a question waits for its answer: the service's own deadline and a second for the way.
const askPatience = answerIn + time.Second

// AskSnapshot asks the watcher of the host with that token for a page of its snapshot. The errors are those of every
// question here: [ErrNobody] where no watcher answers, [ErrSilence], a [ServiceError], and the cause of ctx.
func AskSnapshot(ctx context.Context, nc *nats.Conn, hostToken string, q SnapshotRequest) (SnapshotPage, error) {
	return ask[SnapshotPage](ctx, nc, hostToken, "snapshot", q)
}

// AskWhy asks the watcher why a peer is taken to be there.
func AskWhy(ctx context.Context, nc *nats.Conn, hostToken string, q WhyRequest) (WhyReply, error) {
	return ask[WhyReply](ctx, nc, hostToken, "why", q)
}

// AskStatus asks the watcher how it is.
func AskStatus(ctx context.Context, nc *nats.Conn, hostToken string) (StatusReply, error) {
	return ask[StatusReply](ctx, nc, hostToken, "status", struct{}{})
}

func ask[A, Q any](ctx context.Context, nc *nats.Conn, hostToken, what string, q Q) (A, error) {
	var answer A
	request, err := json.Marshal(q)
	if err != nil {
		return answer, fmt.Errorf("ask for %s: %w", what, err)
	}
	subject := serviceSubject(hostToken) + "." + what
	data, err := askOnce(ctx, nc, subject, request)
	if errors.Is(err, ErrNobody) && pause(ctx, askAgain) {
		data, err = askOnce(ctx, nc, subject, request)
	}
	if err != nil {
		return answer, fmt.Errorf("ask for %s: %w", what, err)
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer, fmt.Errorf("ask for %s: %w: %w", what, ErrReply, err)
	}
	return answer, nil
}

func askOnce(ctx context.Context, nc *nats.Conn, subject string, request []byte) ([]byte, error) {
	within, cancel := context.WithTimeoutCause(ctx, askPatience, ErrSilence)
	defer cancel()
	m, err := nc.RequestWithContext(within, subject, request)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, ErrNobody
	case within.Err() != nil:
		return nil, context.Cause(within)
	case err != nil:
		return nil, err
	}
	if code := m.Header.Get(micro.ErrorCodeHeader); code != "" {
		n, err := strconv.Atoi(code)
		if err != nil {
			return nil, fmt.Errorf("%w: error code %.20q", ErrReply, code)
		}
		return nil, &ServiceError{Code: n, Text: m.Header.Get(micro.ErrorHeader)}
	}
	return m.Data, nil
}

func serviceSubject(hostToken string) string { return "watcher.v1." + hostToken }
