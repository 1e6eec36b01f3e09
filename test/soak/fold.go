package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"peerbus/events"
)

// fold is what somebody who hears the watcher takes to be there, by ID with an empty host. It may be told and asked
// from several goroutines.
type fold struct {
	mu    sync.Mutex
	peers map[events.ID]events.Peer
	seqs  map[events.ID]uint64
	heard int // events
}

func newFold() *fold {
	return &fold{peers: make(map[events.ID]events.Peer), seqs: make(map[events.ID]uint64)}
}

// reset forgets who is there.
func (f *fold) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.peers)
	clear(f.seqs)
}

// peer takes one of those that are there, as the event with that sequence left it.
func (f *fold) peer(seq uint64, p events.Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peers[p.ID("")], f.seqs[p.ID("")] = p, seq
}

// event applies an event, unless what is known already reflects it.
func (f *fold) event(l events.Last) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard++
	p, ok := events.PeerOf(l.Event)
	id := p.ID("")
	if !ok || l.Seq <= f.seqs[id] {
		return
	}
	f.seqs[id] = l.Seq
	if _, gone := l.Event.(events.PeerGone); gone {
		delete(f.peers, id)
		return
	}
	f.peers[id] = p
}

func (f *fold) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard
}

// against is in what the fold differs from the truth, in lines.
func (f *fold) against(truth map[events.ID]events.Peer) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return unlike(f.peers, truth)
}

// unlike is in what a log's word differs from the truth, in lines.
func unlike(said, truth map[events.ID]events.Peer) []string {
	var out []string
	for id, p := range truth {
		if got, ok := said[id]; !ok {
			out = append(out, fmt.Sprintf("the log does not have %s", show(p)))
		} else if got != p {
			out = append(out, fmt.Sprintf("the log has %s with %s", who(p), differing(got, p)))
		}
	}
	for id, p := range said {
		if _, ok := truth[id]; !ok {
			out = append(out, fmt.Sprintf("the log has %s, which is not there", show(p)))
		}
	}
	return out
}

// peersOf is a view without its events, by ID with an empty host.
func peersOf(v events.View) map[events.ID]events.Peer {
	out := make(map[events.ID]events.Peer, len(v))
	for _, last := range v {
		p := last.Peer()
		out[p.ID("")] = p
	}
	return out
}

// who is which peer p is.
func who(p events.Peer) string { return p.Session + " " + p.Instance() }

// show is p in whole.
func show(p events.Peer) string {
	data, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// differing are the facts in which got is not want.
func differing(got, want events.Peer) string {
	var out []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for f := range reflect.TypeFor[events.Peer]().Fields() {
		if a, b := g.FieldByIndex(f.Index), w.FieldByIndex(f.Index); !a.Equal(b) {
			out = append(out, fmt.Sprintf("%s %v instead of %v", f.Name, quoted(a), quoted(b)))
		}
	}
	return strings.Join(out, ", ")
}

func quoted(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return strconv.Quote(v.String())
	}
	return fmt.Sprint(v.Interface())
}
