package bus

import (
	"context"
	"fmt"
	"net/http"

	"github.com/nats-io/nats.go"

	"peerbus/occupancy"
)

// Occupied answers who holds a thread, within 2 s. What the log knows, which is host and seq, is filled in for it.
type Occupied func(ctx context.Context, q occupancy.Question) occupancy.Verdict

// AskOccupied asks the watcher whether somebody holds a thread. Every error, silence too, means that nobody knows: do
// not attach.
func AskOccupied(ctx context.Context, nc *nats.Conn, hostToken string, q occupancy.Question) (occupancy.Verdict, error) {
	v, err := ask[occupancy.Verdict](ctx, nc, hostToken, "occupied", q)
	if err == nil && v.Attachable && (v.Reason != "" || len(v.Doubts) > 0) {
		return occupancy.Verdict{}, fmt.Errorf("ask for occupied: %w: it says attachable, and why not", ErrReply)
	}
	return v, err
}

// occupied is the endpoint; a nil say is not asked. The sequence is read before the question is looked into: what the log
// has got since may not be in the verdict.
func occupied(l *Log, say Occupied) endpoint {
	return endpoint{
		"occupied", `{"harness":"claude","thread":"a UUID in lower case"}`,
		`{"attachable":false,"reason":"live_desktop_process","host":"","time":"","seq":4711,` +
			`"owners":[{"harness":"","thread":"","pid":6540,"start":"","source":"","self_owned":false,"status":"idle"}],` +
			`"doubts":[{"reason":"","about":"","why":""}]}`,
		func(ctx context.Context, data []byte) ([]byte, error) {
			return answer(data, func(q occupancy.Question) (occupancy.Verdict, error) {
				if say == nil {
					return occupancy.Verdict{}, &ServiceError{http.StatusServiceUnavailable, "occupancy is not answered here"}
				}
				seq, err := l.lastSeq()
				if err != nil {
					return occupancy.Verdict{}, err
				}
				v := say(ctx, q)
				v.Host, v.Seq = l.host, seq
				return v, nil
			})
		},
	}
}

// lastSeq is the last message of the log that is known here.
func (l *Log) lastSeq() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.folded {
		return 0, ErrNotFolded
	}
	return l.seq, nil
}
