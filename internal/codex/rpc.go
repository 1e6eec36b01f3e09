package codex

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/coder/websocket"
)

// line is a connection: JSON-RPC without its version, each message a text.
type line struct {
	conn *websocket.Conn
	last int64 // the last request's number
}

type request struct {
	ID     int64           `json:"id,omitzero"` // none where no answer is wanted
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitzero"`
}

// hello is how every connection begins. The name is that of Codex's own program that asks whether a daemon is there:
// any other name a daemon takes over for its own, writes down as who began its threads, and tells to the model's vendor.
const hello = `{"clientInfo":{"name":"codex_app_server_daemon","title":"peerbus watcher","version":"1"}}`

// greet begins the connection.
func (l *line) greet(ctx context.Context) error {
	id, err := l.ask(ctx, "initialize", json.RawMessage(hello))
	if err != nil {
		return err
	}
	for {
		m, err := l.read(ctx)
		switch {
		case err != nil:
			return err
		case m.answers != id:
		case m.refused:
			return errors.New("it refuses to be greeted")
		default:
			return l.write(ctx, request{Method: "initialized"})
		}
	}
}

// ask sends a request and returns its number.
func (l *line) ask(ctx context.Context, method string, params json.RawMessage) (int64, error) {
	l.last++
	return l.last, l.write(ctx, request{ID: l.last, Method: method, Params: params})
}

func (l *line) write(ctx context.Context, r request) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.conn.Write(ctx, websocket.MessageText, data)
}

// read is the next message; one that makes no sense is an empty one.
func (l *line) read(ctx context.Context) (message, error) {
	_, data, err := l.conn.Read(ctx)
	if err != nil {
		return message{}, err
	}
	m, err := decodeMessage(data)
	if err != nil {
		return message{}, nil
	}
	return m, nil
}

// leave has the daemon send us no more of a thread than it tells everybody. A daemon makes all who are connected
// followers of each new sub-agent, and keeps a thread loaded, and its lock held, for as long as it has a follower.
func (l *line) leave(ctx context.Context, thread string) error {
	_, err := l.ask(ctx, "thread/unsubscribe", json.RawMessage(`{"threadId":"`+thread+`"}`))
	return err
}

// list is what thread/list is asked for: those threads, whoever began them, by the daemon's index alone. Otherwise it
// would go through all rollouts, and mend what it has of them.
type list struct {
	Threads   []string `json:"includedThreadIds"`
	Limit     int      `json:"limit"`
	Sources   []string `json:"sourceKinds"`
	Providers []string `json:"modelProviders"`
	IndexOnly bool     `json:"useStateDbOnly"`
}

// maxLoaded is how many threads are asked about; Codex takes no more in one request.
const maxLoaded = 100

func listing(threads []string) (json.RawMessage, error) {
	return json.Marshal(list{
		Threads: threads[:min(len(threads), maxLoaded)], Limit: maxLoaded, Providers: []string{}, IndexOnly: true,
		Sources: []string{
			"cli", "vscode", "exec", "appServer", "subAgent", "subAgentReview", "subAgentCompact", "subAgentThreadSpawn",
			"subAgentOther", "unknown",
		},
	})
}
