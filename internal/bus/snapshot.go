package bus

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"peerbus/events"
)

// SnapshotRequest asks for what is there, page by page. Page 0 without a sequence freezes it; the answer's sequence
// names it in the requests for the further pages.
type SnapshotRequest struct {
	Seq  uint64 `json:"seq,omitzero"`
	Page int    `json:"page"`
}

// SnapshotPage is a page of what was there when the event with the sequence was the last one in the log.
type SnapshotPage struct {
	Host  string         `json:"host"`
	Epoch string         `json:"epoch"`
	Seq   uint64         `json:"seq"`
	Page  int            `json:"page"`
	More  bool           `json:"more"`
	Peers []SnapshotPeer `json:"peers"`
}

// SnapshotPeer is a peer that is there, as the last event about it, which has that sequence.
type SnapshotPeer struct {
	Seq   uint64          `json:"seq"`
	Event json.RawMessage `json:"event"`
}

const (
	// pagePeers is how many peers a page has at most: 47 KB of the 1 MiB that a message may have.
	pagePeers = 100

	// pageBytes closes a page early. One event more, which has 64 KiB at most, still fits into a message.
	pageBytes = 512 << 10

	// keptSnapshots is how many are remembered for whoever is still paging.
	keptSnapshots = 32
)

// snapshots keeps the last few of what was frozen.
type snapshots struct {
	mu   sync.Mutex
	kept []frozen // the oldest first
	// begun counts the freezes, last is the number of the last that succeeded. Questions that wait for one share the
	// next: many that ask while the log moves on would each have one made, and push out what others page through.
	begun atomic.Uint64
	last  uint64
}

type frozen struct {
	epoch string
	seq   uint64
	pages [][]SnapshotPeer // at least one
}

// page answers a request; a new snapshot is what now answers. One that is not remembered is a [ServiceError] 410.
func (s *snapshots) page(q SnapshotRequest, host string, now func() (LogState, error)) (SnapshotPage, error) {
	f, err := s.find(q, now)
	if err != nil {
		return SnapshotPage{}, err
	}
	if q.Page < 0 || q.Page >= len(f.pages) {
		return SnapshotPage{}, &ServiceError{http.StatusBadRequest, fmt.Sprintf("there is no page %d", q.Page)}
	}
	return SnapshotPage{
		Host: host, Epoch: f.epoch, Seq: f.seq, Page: q.Page, More: q.Page+1 < len(f.pages), Peers: f.pages[q.Page],
	}, nil
}

func (s *snapshots) find(q SnapshotRequest, now func() (LogState, error)) (frozen, error) {
	asked := s.begun.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Seq == 0 && q.Page == 0 {
		if s.last > asked { // it was begun after this was asked
			return s.kept[len(s.kept)-1], nil
		}
		return s.freeze(now)
	}
	if q.Seq == 0 {
		return frozen{}, &ServiceError{http.StatusBadRequest, "a further page is asked for with its snapshot's seq"}
	}
	i := slices.IndexFunc(s.kept, func(f frozen) bool { return f.seq == q.Seq })
	if i < 0 {
		return frozen{}, &ServiceError{http.StatusGone, fmt.Sprintf("the snapshot at %d is not kept any more", q.Seq)}
	}
	return s.kept[i], nil
}

func (s *snapshots) freeze(now func() (LogState, error)) (frozen, error) {
	number := s.begun.Add(1)
	at, err := now()
	if err != nil {
		return frozen{}, err
	}
	if n := len(s.kept); n > 0 && s.kept[n-1].seq == at.Seq {
		s.last = number
		return s.kept[n-1], nil
	}
	pages, err := paged(at.View)
	if err != nil {
		return frozen{}, err
	}
	if len(s.kept) == keptSnapshots {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	f := frozen{epoch: at.Epoch, seq: at.Seq, pages: pages}
	s.kept = append(s.kept, f)
	s.last = number
	return f, nil
}

// paged is the view in pages, in the order of the peers' IDs. An empty one has one page.
func paged(view events.View) ([][]SnapshotPeer, error) {
	pages := [][]SnapshotPeer{{}}
	size := 0
	for _, id := range view.IDs() {
		data, err := events.Encode(view[id].Event)
		if err != nil {
			return nil, fmt.Errorf("write snapshot: %w", err)
		}
		if n := len(pages); len(pages[n-1]) == pagePeers || size > pageBytes {
			pages, size = append(pages, nil), 0
		}
		n := len(pages) - 1
		pages[n] = append(pages[n], SnapshotPeer{Seq: view[id].Seq, Event: data})
		size += len(data)
	}
	return pages, nil
}
