package bus

import (
	"context"

	"peerbus/events"
	"peerbus/reconcile"
)

// StatusReply is how a watcher is.
type StatusReply struct {
	Host    string           `json:"host"`
	Epoch   string           `json:"epoch"`
	Seq     uint64           `json:"seq"`   // of the last event that it knows to be in the log
	Peers   int              `json:"peers"` // that are there
	Log     LogCounts        `json:"log"`
	Version string           `json:"version,omitzero"`
	PID     int              `json:"pid,omitzero"`
	Started events.Time      `json:"started,omitzero"`
	Facts   []reconcile.Fact `json:"facts"` // what can be seen and what cannot, and why
}

// Status answers with what the watcher says of itself. What the log knows, which is host to log, is filled in for it.
type Status func(ctx context.Context) StatusReply

// status fills in what the log knows.
func (l *Log) status(r StatusReply) (StatusReply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.folded {
		return StatusReply{}, ErrNotFolded
	}
	r.Host, r.Epoch, r.Seq, r.Peers, r.Log = l.host, l.epoch, l.seq, len(l.view), l.counts
	if r.Facts == nil {
		r.Facts = []reconcile.Fact{}
	}
	return r, nil
}
