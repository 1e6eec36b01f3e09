package state

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// beatFile is empty. Its modification time says when somebody watched last: one call a beat, no data and no sync. After
// a loss of power it may be older than the truth, by what the file system had not written yet.
const beatFile = "beat"

// Beat notes that somebody watches at t.
func (d *Dir) Beat(t time.Time) error {
	err := os.Chtimes(d.file(beatFile), t, t)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(d.file(beatFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Chtimes(d.file(beatFile), t, t)
}

// LastWatched is the last [Dir.Beat], the zero time where there was none.
func (d *Dir) LastWatched() time.Time {
	info, err := os.Stat(d.file(beatFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
