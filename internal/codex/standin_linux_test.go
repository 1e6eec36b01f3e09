package codex

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// codexDaemon is a stand-in for Codex's daemon: a real WebSocket server on a real socket.
type codexDaemon struct {
	testing.TB
	path string

	mu       sync.Mutex
	threads  map[string]string // what thread/list says of each
	requests []string          // the methods that were asked for
	conns    []*websocket.Conn
	server   *http.Server
	listener net.Listener
}

func (s *stage) daemon() *codexDaemon {
	s.Helper()
	dir, err := os.MkdirTemp("", "cxd") // a path to a socket must be short
	s.must(err)
	s.Cleanup(func() { os.RemoveAll(dir) })
	d := &codexDaemon{TB: s, path: filepath.Join(dir, "s"), threads: map[string]string{}}
	s.must(os.MkdirAll(filepath.Join(s.dir, "app-server-control"), 0o700))
	s.must(os.Symlink(d.path, filepath.Join(s.dir, "app-server-control", "app-server-control.sock")))
	d.start()
	s.Cleanup(d.stop)
	return d
}

func (d *codexDaemon) start() {
	d.Helper()
	l, err := net.Listen("unix", d.path)
	if err != nil {
		d.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	d.server, d.listener = &http.Server{Handler: d}, l
	go d.server.Serve(l)
}

// stop ends the daemon as -9 does: its socket stays.
func (d *codexDaemon) stop() {
	d.mu.Lock()
	conns := d.conns
	d.conns = nil
	d.mu.Unlock()
	for _, c := range conns {
		c.CloseNow()
	}
	d.listener.Close() // which the server does not know yet, if it has just been started
	d.server.Close()
}

func (d *codexDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	for {
		kind, data, err := c.Read(r.Context())
		if err != nil {
			return
		}
		var q struct {
			ID      *int64
			Version *string `json:"jsonrpc"`
			Method  string
			Params  struct {
				Included []string              `json:"includedThreadIds"`
				Thread   string                `json:"threadId"`
				Client   struct{ Name string } `json:"clientInfo"`
			}
		}
		if kind != websocket.MessageText || json.Unmarshal(data, &q) != nil || q.Version != nil {
			d.Errorf("not a request: %s", data)
			return
		}
		d.mu.Lock()
		d.requests = append(d.requests, strings.TrimSpace(q.Method+" "+q.Params.Thread+q.Params.Client.Name))
		if q.Method == "initialized" {
			d.conns = append(d.conns, c)
		}
		answer := d.answer(q.Method, q.Params.Included)
		d.mu.Unlock()
		if q.ID == nil {
			continue
		}
		reply, err := json.Marshal(map[string]any{"id": *q.ID, "result": answer})
		if err != nil {
			d.Error(err)
		}
		if err := c.Write(r.Context(), websocket.MessageText, reply); err != nil {
			return
		}
	}
}

func (d *codexDaemon) answer(method string, included []string) any {
	data := []any{}
	for id, status := range d.threads {
		switch method {
		case "thread/loaded/list":
			data = append(data, id)
		case "thread/list":
			for _, want := range included {
				if want == id {
					data = append(data, map[string]any{"id": id, "preview": "what was said", "status": json.RawMessage(status)})
				}
			}
		}
	}
	return map[string]any{"data": data, "nextCursor": nil}
}

// push tells everybody who is connected something.
func (d *codexDaemon) push(message string) {
	d.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		ctx, cancel := context.WithTimeout(d.Context(), 10*time.Second)
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			d.Logf("push: %v", err)
		}
		cancel()
	}
}

func (d *codexDaemon) says(thread, status string) {
	d.Helper()
	d.push(`{"method":"thread/status/changed","params":{"threadId":"` + thread + `","status":` + status + `}}`)
}

func (d *codexDaemon) connections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}
