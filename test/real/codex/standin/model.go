package standin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxRequest is the largest request that is read, in bytes; real ones have some 50 KiB.
const maxRequest = 32 << 20

// Model answers the requests of clients. It is an [http.Handler] for `POST /v1/responses`; everything else is not
// found. The zero Model is ready, and may be used by many goroutines.
type Model struct {
	answers atomic.Int64

	mu    sync.Mutex
	gates map[string]chan struct{}
}

// Release lets the answers go that wait at the gate of that name, and those that come to it later.
func (m *Model) Release(name string) {
	gate := m.gate(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

func (m *Model) gate(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates == nil {
		m.gates = map[string]chan struct{}{}
	}
	if m.gates[name] == nil {
		m.gates[name] = make(chan struct{})
	}
	return m.gates[name]
}

// pass waits until the gate is open; there is none of the name "".
func (m *Model) pass(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	select {
	case <-m.gate(name):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait at gate %q: %w", name, context.Cause(ctx))
	}
}

// ServeHTTP answers one request. It ends early when the client goes.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/responses" {
		http.NotFound(w, r)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req, err := decodeRequest(data)
	if err != nil || !req.Stream {
		http.Error(w, "want a request for a streamed response", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if err := m.stream(r.Context(), w, req); err != nil {
		// The head is out: an answer that breaks off is all that the client can be told.
		panic(http.ErrAbortHandler)
	}
}

func (m *Model) stream(ctx context.Context, w http.ResponseWriter, req request) error {
	id := fmt.Sprint(m.answers.Add(1))
	if err := begin(w, id); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	a := req.answer()
	if err := m.pass(ctx, a.hold); err != nil {
		return err
	}
	return finish(w, id, a)
}
