package claude

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"peerbus/events"
	"peerbus/reconcile"
)

// home is one Claude home: its folder of records as it was last seen.
type home struct {
	path   string
	folder string // path/sessions

	state folderState
	why   error // why it cannot be read, where that is so
	twin  *home // the home that has the same folder, where there is one
	id    folderID

	slots  map[int]*slot
	odd    map[string]error // the files that end in .json and are no records by their names
	sweeps int
	swept  time.Time // when the whole folder was last seen
	// unseen: since when the folder has been away or unreadable; since the last sweep, if there was one.
	unseen time.Time
	blind  []reconcile.Blind // not yet told

	reads, torn int
	buf         []byte
}

// folderState is what the folder was when it was last looked at.
type folderState int

const (
	never      folderState = iota // not looked at yet
	missing                       // not there, and nobody was ever seen in it: no sessions
	there                         // seen
	away                          // was there and is not
	unreadable                    // there, and cannot be read
	doubled                       // the folder of another home too, which counts
)

func newHome(path string) *home {
	return &home{
		path: path, folder: filepath.Join(path, "sessions"),
		slots: map[int]*slot{}, buf: make([]byte, maxFile+1),
	}
}

// enter opens the folder and notes what it is now. It returns nil where it cannot be read, or is not to be; changed is
// that it is another one than was last seen. held tells that the log has somebody in it; twin names the home, if any,
// that has that folder already.
func (h *home) enter(now time.Time, held bool, twin func(folderID) *home) (d *folder, changed bool) {
	d, err := openFolder(h.folder)
	if err != nil {
		h.lose(err, now, held)
		return nil, false
	}
	if t := twin(d.id); t != nil {
		d.close()
		h.state, h.why, h.twin, h.id = doubled, nil, t, d.id
		clear(h.slots)
		return nil, false
	}
	changed = h.state != there || h.id != d.id
	if h.id != d.id {
		clear(h.slots)
	}
	if h.lost() {
		h.blind = append(h.blind, reconcile.Blind{From: h.unseen, To: now, Why: events.Folder})
	}
	h.state, h.why, h.twin, h.id = there, nil, nil, d.id
	return d, changed
}

// lost tells that the folder was there, or should be, and cannot be read.
func (h *home) lost() bool { return h.state == away || h.state == unreadable }

// lose notes that the folder cannot be read.
func (h *home) lose(err error, now time.Time, held bool) {
	wasLost, state := h.lost(), unreadable
	if errors.Is(err, fs.ErrNotExist) {
		state = away
		if (h.state == never || h.state == missing) && !held {
			state = missing
		}
	}
	h.state, h.why, h.twin = state, err, nil
	if h.lost() && !wasLost {
		h.unseen = now
		if !h.swept.IsZero() {
			h.unseen = h.swept
		}
	}
	for _, s := range h.slots {
		s.goneSince = time.Time{} // the grace of a record runs only while its absence can be seen
	}
}

// sweepIn looks at every file of d, and reads those that changed or were young when they were last read.
func (h *home) sweepIn(d *folder, now time.Time) error {
	names, err := d.names()
	if err != nil {
		return err
	}
	h.sweeps++
	h.odd = map[string]error{}
	for _, name := range names {
		pid, err := recordName(name)
		if err == nil {
			h.visit(d, pid, now)
		} else if filepath.Ext(name) == ".json" {
			h.odd[name] = err
		}
	}
	for _, s := range h.slots {
		if s.sweep != h.sweeps {
			s.vanish()
		}
	}
	h.swept = now
	return nil
}

// visit reads the file of pid if it changed.
func (h *home) visit(d *folder, pid int, now time.Time) {
	key, odd := d.stat(fileName(pid))
	if errors.Is(odd, fs.ErrNotExist) {
		return
	}
	s := h.slot(pid)
	s.sweep = h.sweeps
	if !s.here || s.again || s.key != key {
		h.load(s, d, key, odd, now)
	}
}

// readIn reads the file of pid, whether or not it changed.
func (h *home) readIn(d *folder, pid int, now time.Time) {
	key, odd := d.stat(fileName(pid))
	if !errors.Is(odd, fs.ErrNotExist) {
		h.load(h.slot(pid), d, key, odd, now)
	} else if s := h.slots[pid]; s != nil {
		s.vanish()
	}
}

func (h *home) load(s *slot, d *folder, key fileKey, odd error, now time.Time) {
	h.reads++
	if s.load(d, key, odd, now, h.buf) {
		h.torn++
	}
}

// slot is the slot of pid, which it makes if there is none.
func (h *home) slot(pid int) *slot {
	s := h.slots[pid]
	if s == nil {
		s = &slot{pid: pid}
		h.slots[pid] = s
	}
	return s
}
