package codex

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"peerbus/events"
	"peerbus/reconcile"
)

// home is one Codex home: its folder of locks as it was last seen.
type home struct {
	path   string
	folder string // path/thread-writer-locks

	state folderState
	why   error // why it cannot be read, where that is so
	twin  *home // the home that has the same folder, where there is one
	id    fileID

	threads map[string]*thread
	odd     map[string]error // what is in the folder and is no thread's lock
	sweeps  int
	swept   time.Time // when the whole folder was last seen
	// unseen: since when the folder has been away or unreadable; since the last sweep, if there was one.
	unseen time.Time
	blind  []reconcile.Blind // not yet told

	days   days
	daemon *daemon
}

// folderState is what the folder was when it was last looked at.
type folderState int

const (
	never      folderState = iota // not looked at yet
	missing                       // not there, and nobody was ever seen in it: nothing can be told
	there                         // seen
	away                          // was there and is not
	unreadable                    // there, and cannot be read
	doubled                       // the folder of another home too, which counts
)

func newHome(path string) *home {
	return &home{
		path: path, folder: filepath.Join(path, "thread-writer-locks"),
		threads: map[string]*thread{}, days: days{}, daemon: newDaemon(path),
	}
}

// enter opens the folder and notes what it is now. It returns nil where it cannot be read, or is not to be; changed is
// that it is another one than was last seen. held tells that the log has somebody in it; twin names the home, if any,
// that has that folder already.
func (h *home) enter(now time.Time, held bool, twin func(fileID) *home) (d *folder, changed bool) {
	d, err := openFolder(h.folder)
	if err != nil {
		h.lose(err, now, held)
		return nil, false
	}
	if t := twin(d.id); t != nil {
		d.close()
		h.state, h.why, h.twin, h.id = doubled, nil, t, d.id
		clear(h.threads)
		return nil, false
	}
	changed = h.state != there || h.id != d.id
	if h.id != d.id {
		clear(h.threads)
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
}

// sweepIn looks at everything in d, and reports whether that is other than it was.
func (h *home) sweepIn(d *folder, now time.Time) (changed bool, err error) {
	names, err := d.names()
	if err != nil {
		return false, err
	}
	h.sweeps++
	h.odd = map[string]error{}
	for _, name := range names {
		id, ok := lockThread(name)
		switch {
		case ok:
			changed = h.visit(d, id) || changed
		case name != coordination:
			h.odd[name] = errName
		}
	}
	for _, t := range h.threads {
		if t.sweep != h.sweeps {
			changed = t.vanish() || changed
		}
	}
	h.swept = now
	return changed, nil
}

// visit looks at the lock of a thread, and reports whether that is another one than it was.
func (h *home) visit(d *folder, id string) (changed bool) {
	at, made, err := d.stat(lockName(id))
	t := h.threads[id]
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			h.note(lockName(id), err)
		}
		return t != nil && t.vanish()
	}
	if t == nil {
		t = &thread{id: id}
		h.threads[id] = t
	}
	t.sweep = h.sweeps
	if t.here && t.file == at && t.made == made {
		return false
	}
	t.replace(at, made)
	return true
}

// note keeps why something is no thread's lock.
func (h *home) note(name string, why error) {
	if h.odd == nil {
		h.odd = map[string]error{}
	}
	h.odd[name] = why
}
