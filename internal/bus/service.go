package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"peerbus/events"
)

const serviceName = "watcher"

// Service is the micro service "watcher" of a host.
type Service struct {
	Log     *Log
	Version string // of the program, as semantic versioning has it
	Why     Why
	Status  Status
	// Occupied answers who holds a thread; nil says that this is not answered here.
	Occupied Occupied
	Logger   *slog.Logger
}

// endpoint is one kind of question that a service answers.
type endpoint struct {
	name     string // the last token of its subject
	request  string // a JSON object that shows what is asked
	response string // one that shows the answer
	// answer is told to the asker; a [ServiceError] as it is, any other error as 503.
	answer func(ctx context.Context, request []byte) ([]byte, error)
}

// Serve answers questions on nc, which is the responder's, until ctx ends, whose cause it returns once the answers on
// their way are out. Each has 2 s; then, and after a panic, which is logged, the asker is told 503. Serve fails at once
// where the service cannot be set up, and when the connection is closed.
func (s Service) Serve(ctx context.Context, nc *nats.Conn) error {
	token := events.Token(s.Log.host)
	closed := nc.StatusChanged(nats.CLOSED)
	defer nc.RemoveStatusListener(closed)
	svc, err := micro.AddService(nc, micro.Config{
		Name: serviceName, Version: s.Version, Description: "the live sessions of a host",
		Metadata: map[string]string{"host": s.Log.host}, QueueGroup: token,
	})
	if err != nil {
		return fmt.Errorf("serve %s: %w", serviceName, err)
	}
	within, cancel := context.WithCancel(ctx)
	d := &desk{nc: nc, logger: s.Logger}
	defer d.close()
	defer cancel()
	defer func() { _ = svc.Stop() }() // it fails only where the connection is closed
	group := svc.AddGroup(serviceSubject(token))
	for _, e := range s.endpoints() {
		schema := map[string]string{"format": "application/json", "request": e.request, "response": e.response}
		if err := group.AddEndpoint(e.name, d.handler(within, e), micro.WithEndpointMetadata(schema)); err != nil {
			return fmt.Errorf("serve %s.%s: %w", serviceName, e.name, err)
		}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closed:
		return fmt.Errorf("serve %s: %w", serviceName, nats.ErrConnectionClosed)
	}
}

func (s Service) endpoints() []endpoint {
	kept := &snapshots{}
	return []endpoint{
		{
			"snapshot", `{"seq":4711,"page":1}`, `{"host":"","epoch":"","seq":4711,"page":1,"more":false,"peers":[{"seq":4700,"event":{}}]}`,
			func(_ context.Context, data []byte) ([]byte, error) {
				return answer(data, func(q SnapshotRequest) (SnapshotPage, error) { return kept.page(q, s.Log.host, s.Log.State) })
			},
		},
		{
			"why", `{"peer":"a session id, its first 8 characters or more, a name, an endpoint"}`,
			`{"peer":{},"verdict":"alive","evidence":[{"source":"","about":"","says":"","time":"","ok":true}],"events":[{"seq":4700,"event":{}}]}`,
			func(ctx context.Context, data []byte) ([]byte, error) {
				return answer(data, func(q WhyRequest) (WhyReply, error) { return s.Why(ctx, q.Peer) })
			},
		},
		{
			"status", `{}`, `{"host":"","epoch":"","seq":4711,"peers":3,"log":{},"facts":[{"check":"","ok":true,"fact":""}]}`,
			func(ctx context.Context, data []byte) ([]byte, error) {
				return answer(data, func(struct{}) (StatusReply, error) { return s.Log.status(s.Status(ctx)) })
			},
		},
		occupied(s.Log, s.Occupied),
	}
}

// answer reads the question and writes the answer. An empty question is one with nothing said.
func answer[Q, A any](data []byte, say func(Q) (A, error)) ([]byte, error) {
	var q Q
	if len(data) > 0 {
		if err := json.Unmarshal(data, &q); err != nil {
			return nil, &ServiceError{http.StatusBadRequest, "the request is not JSON of the form that is asked for: " + err.Error()}
		}
	}
	a, err := say(q)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}
