package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"peerbus/events"
	"peerbus/reconcile"
)

// WhyRequest asks why a peer is taken to be there. Peer is what [Resolve] takes.
type WhyRequest struct {
	Peer string `json:"peer"`
}

// WhyReply is why a peer is taken to be there.
type WhyReply struct {
	Peer     events.Peer          `json:"peer"`
	Verdict  string               `json:"verdict"` // alive, dead, replaced or unknown
	Evidence []reconcile.Evidence `json:"evidence"`
	Events   []SnapshotPeer       `json:"events"` // the last of each kind about the peer, as the log has them
}

// Why answers a question for a peer. Errors that are no [ServiceError] mean that it cannot be answered now.
type Why func(ctx context.Context, ref string) (WhyReply, error)

// Why is a [Why] that finds the peer in what the log says is there, and has what speaks for it from explain. A ref
// that is nobody's is a [ServiceError] 404, one that is several peers' 400 with their names.
func (l *Log) Why(explain func(context.Context, events.Peer) reconcile.Explanation) Why {
	return func(ctx context.Context, ref string) (WhyReply, error) {
		at, err := l.State()
		if err != nil {
			return WhyReply{}, err
		}
		last, err := Resolve(at.View, ref)
		if errors.Is(err, ErrNoPeer) {
			return WhyReply{}, &ServiceError{http.StatusNotFound, err.Error()}
		}
		if err != nil {
			return WhyReply{}, &ServiceError{http.StatusBadRequest, err.Error()}
		}
		evs, err := l.lastOfEachKind(ctx, last.Event)
		if err != nil {
			return WhyReply{}, err
		}
		ex := explain(ctx, last.Peer())
		return WhyReply{Peer: last.Peer(), Verdict: ex.Verdict, Evidence: append([]reconcile.Evidence{}, ex.Evidence...), Events: evs}, nil
	}
}

// lastOfEachKind reads the last events of each kind about the peer of e, in their order.
func (l *Log) lastOfEachKind(ctx context.Context, e events.Event) ([]SnapshotPeer, error) {
	subject := e.Subject()
	peer := subject[:strings.LastIndexByte(subject, '.')]
	b, err := Direct(ctx, l.js.Conn(), Peers, Query{LastOnEach: peer + ".*"})
	if err != nil {
		return nil, fmt.Errorf("read the peer's events: %w", err)
	}
	evs := []SnapshotPeer{}
	for _, m := range b.Messages {
		if json.Valid(m.Data) {
			evs = append(evs, SnapshotPeer{Seq: m.Seq, Event: m.Data})
		}
	}
	return evs, nil
}
