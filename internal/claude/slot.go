package claude

import (
	"errors"
	"io/fs"
	"time"
)

// slot is what is known of one file of the folder, or of one pid whose file is gone.
type slot struct {
	pid  int
	here bool // the file is in the folder
	key  fileKey
	// again: the file was young when it was read, or could not be read, and is read at the next sweep in any case.
	again bool
	sweep int // the last sweep that met the file

	rec Record // the last good record, the zero one if there never was any
	bad error  // why what the file holds now was not taken; rec is from before then
	// tries are the reads that met the same broken content, which may be a torn one.
	tries int

	kind kind // what the file was taken for when it was last judged

	// Since when the file has been gone while its process lived on; the record has had no status; the session has
	// been handed to the job. Zero where it is not so.
	goneSince, bareSince, parkedSince time.Time
}

// kind is what a record was taken for.
type kind int

const (
	unjudged kind = iota
	peer
	bare      // a peer soon: it has no status yet
	leftover  // its process is dead
	replaced  // its pid belongs to another process
	unproven  // its process may be another one, or cannot be asked
	elsewhere // its pid means something in another pid domain
	parked    // its session was handed to a background job
	spare     // started in advance
	courier   // one of our own
	kinds     // how many there are
)

// tornRetries are the waits before a broken record is read again, for as long as nothing else says that it changed.
// A retry after 1 ms healed 5,004 of 5,006 torn reads; a writer that never pauses needs longer ones, and after the
// last the sweeps are soon enough.
var tornRetries = []time.Duration{2 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}

// retry is how soon the slot should be read again because its content is broken; 0 means at the next sweep.
func (s *slot) retry() time.Duration {
	if s.tries == 0 || s.tries > len(tornRetries) {
		return 0
	}
	return tornRetries[s.tries-1]
}

// load reads the slot's file, of which key and odd were just seen from outside, and reports whether the read was torn.
func (s *slot) load(d *folder, key fileKey, odd error, now time.Time, buf []byte) (torn bool) {
	if !s.here {
		s.here = true
	}
	if odd != nil {
		s.refuse(key, odd, false)
		return false
	}
	data, opened, err := d.read(fileName(s.pid), buf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.vanish()
		return false
	case err != nil:
		s.refuse(key, err, true)
		return false
	}
	before := s.key
	s.key, s.again = opened, opened.racy(now)
	rec, err := Decode(data)
	if err == nil && rec.PID != s.pid {
		err = errOtherPID
	}
	if err != nil {
		s.bad = err
		if torn = errors.Is(err, ErrTorn); torn {
			s.countTry(before)
		}
		return torn
	}
	s.take(rec)
	return false
}

var errOtherPID = errors.New("names another pid than its file")

func (s *slot) refuse(key fileKey, why error, again bool) {
	s.key, s.again, s.bad, s.tries = key, again, why, 0
}

// countTry counts reads of the same broken content, and begins anew where the file has changed since.
func (s *slot) countTry(before fileKey) {
	if s.key != before {
		s.tries = 0
	}
	s.tries++
}

func (s *slot) take(rec Record) {
	if rec.Session != s.rec.Session || rec.Status != "" {
		s.bareSince = time.Time{}
	}
	if rec.Parked != s.rec.Parked {
		s.parkedSince = time.Time{}
	}
	s.rec, s.bad, s.tries = rec, nil, 0
}

// vanish notes that the file is not in the folder.
func (s *slot) vanish() { s.here, s.key, s.bad, s.tries = false, fileKey{}, nil, 0 }

// since returns *t, which it sets to now if it is zero.
func since(t *time.Time, now time.Time) time.Time {
	if t.IsZero() {
		*t = now
	}
	return *t
}
