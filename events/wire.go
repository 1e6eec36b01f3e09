package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrUnknownType is what [Decode] answers for an event of a type that it does not know. A reader skips it.
var ErrUnknownType = errors.New("unknown event type")

// The types as they stand on the wire.
const (
	typeAppeared = "PeerAppeared"
	typeStatus   = "StatusChanged"
	typeChanged  = "PeerChanged"
	typePresent  = "PeerPresent"
	typeGone     = "PeerGone"
	typeResumed  = "WatchResumed"
)

var types = []string{typeAppeared, typeStatus, typeChanged, typePresent, typeGone, typeResumed}

// wire is the union of what the events carry, in the order of the keys.
type wire struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Time      Time      `json:"time"`
	Host      string    `json:"host"`
	Epoch     string    `json:"epoch"`
	Peer      *Peer     `json:"peer,omitzero"`
	Was       *Was      `json:"was,omitzero"`
	Reason    Reason    `json:"reason,omitzero"`
	Missed    bool      `json:"missed,omitzero"`
	NotBefore Time      `json:"not_before,omitzero"`
	Successor *Ref      `json:"successor,omitzero"`
	Job       string    `json:"job,omitzero"`
	BlindFrom Time      `json:"blind_from,omitzero"`
	BlindTo   Time      `json:"blind_to,omitzero"`
	Why       Blindness `json:"why,omitzero"`
}

// TypeOf is the type of e as it stands on the wire.
func TypeOf(e Event) string { return e.wire().Type }

// Encode is e as one JSON object.
func Encode(e Event) ([]byte, error) {
	data, err := json.Marshal(e.wire())
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return data, nil
}

// Decode reads one event. Unknown keys are ignored. The error is [ErrUnknownType] for an object of a type that is not
// known, whatever else is in it, and another one for what is not an event.
func Decode(data []byte) (Event, error) {
	var w wire
	err := json.Unmarshal(data, &w)
	kind := w.Type
	if err != nil {
		kind = statedType(data) // the keys of an unknown type may hold other things than they do here
	}
	switch {
	case kind != "" && !slices.Contains(types, kind):
		return nil, fmt.Errorf("decode event: %w %q", ErrUnknownType, kind)
	case err != nil:
		return nil, fmt.Errorf("decode event: %w", err)
	case w.Type == "" || w.Host == "":
		return nil, errors.New("decode event: no type or no host")
	}
	m := Meta{ID: w.ID, Time: w.Time, Host: w.Host, Epoch: w.Epoch}
	if w.Type == typeResumed {
		return WatchResumed{Meta: m, BlindFrom: w.BlindFrom, BlindTo: w.BlindTo, Why: w.Why}, nil
	}
	e, err := w.peerEvent(m)
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return e, nil
}

// statedType is the type that data gives itself, "" if none can be read.
func statedType(data []byte) string {
	var w struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &w) != nil {
		return ""
	}
	return w.Type
}

func (w wire) peerEvent(m Meta) (Event, error) {
	var p Peer
	if w.Peer != nil {
		p = *w.Peer
	}
	var was Was
	if w.Was != nil {
		was = *w.Was
	}
	var e Event
	switch w.Type {
	case typeAppeared:
		e = PeerAppeared{m, p}
	case typeStatus:
		e = StatusChanged{m, p, was}
	case typeChanged:
		e = PeerChanged{m, p, was}
	case typePresent:
		e = PeerPresent{m, p}
	case typeGone:
		gone := PeerGone{Meta: m, Peer: p, Reason: w.Reason, Missed: w.Missed, NotBefore: w.NotBefore, Job: w.Job}
		if w.Successor != nil {
			gone.Successor = *w.Successor
		}
		e = gone
	default:
		return nil, fmt.Errorf("%w %q", ErrUnknownType, w.Type)
	}
	if p.Harness == "" || p.Session == "" || p.PID <= 0 || p.Start == "" {
		return nil, fmt.Errorf("%s without a whole peer", w.Type)
	}
	return e, nil
}

func (m Meta) wire(kind string) wire {
	return wire{Type: kind, ID: m.ID, Time: m.Time, Host: m.Host, Epoch: m.Epoch}
}

func (m Meta) peerWire(kind string, p Peer, was *Was) wire {
	w := m.wire(kind)
	w.Peer, w.Was = &p, was
	return w
}

func (e PeerAppeared) wire() wire  { return e.Meta.peerWire(typeAppeared, e.Peer, nil) }
func (e StatusChanged) wire() wire { return e.Meta.peerWire(typeStatus, e.Peer, &e.Was) }
func (e PeerChanged) wire() wire   { return e.Meta.peerWire(typeChanged, e.Peer, &e.Was) }
func (e PeerPresent) wire() wire   { return e.Meta.peerWire(typePresent, e.Peer, nil) }

func (e PeerGone) wire() wire {
	w := e.Meta.peerWire(typeGone, e.Peer, nil)
	w.Reason, w.Missed, w.NotBefore, w.Job = e.Reason, e.Missed, e.NotBefore, e.Job
	if e.Successor != (Ref{}) {
		w.Successor = &e.Successor
	}
	return w
}

func (e WatchResumed) wire() wire {
	w := e.Meta.wire(typeResumed)
	w.BlindFrom, w.BlindTo, w.Why = e.BlindFrom, e.BlindTo, e.Why
	return w
}

func (e PeerAppeared) MarshalJSON() ([]byte, error)  { return Encode(e) }
func (e StatusChanged) MarshalJSON() ([]byte, error) { return Encode(e) }
func (e PeerChanged) MarshalJSON() ([]byte, error)   { return Encode(e) }
func (e PeerPresent) MarshalJSON() ([]byte, error)   { return Encode(e) }
func (e PeerGone) MarshalJSON() ([]byte, error)      { return Encode(e) }
func (e WatchResumed) MarshalJSON() ([]byte, error)  { return Encode(e) }
