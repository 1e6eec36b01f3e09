package codex

import (
	"errors"
	"io/fs"
	"time"
)

// rollout is what is known of a thread's rollout. The zero value is that none was found.
type rollout struct {
	path  string
	file  fileID
	stamp stamp // when it was last read
	meta  meta  // the zero value while it is not known
	tail  tail
	why   error // why something of it is not known

	sought time.Time // when it was last looked for among what the holder has open
}

// refresh reads what is new in the rollout. One that is not there any more is forgotten, and of one that cannot be
// read what was known stays but for the turn.
func (ro *rollout) refresh(thread string) {
	file, st, err := statFile(ro.path)
	if err == nil && file == ro.file && st == ro.stamp {
		return
	}
	if err == nil {
		err = ro.read(thread)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		*ro = rollout{sought: ro.sought}
	case err != nil:
		ro.why, ro.tail, ro.stamp = err, tail{}, stamp{}
	}
}

func (ro *rollout) read(thread string) error {
	f, file, st, err := openFile(ro.path)
	if err != nil {
		return err
	}
	defer f.Close()
	// A file of which it is not known whose it is may be another one, which has got the number of the one before.
	grown := ro.meta.id != "" && file == ro.file && st.size > ro.stamp.size && ro.stamp != (stamp{})
	if grown && st.size-ro.tail.next <= tailMost {
		err = ro.tail.follow(f, st.size)
	} else if ro.tail, err = readTail(f, st.size); err == nil {
		ro.meta = meta{}
	}
	if err != nil {
		return err
	}
	ro.why = nil
	if ro.meta.id == "" {
		ro.meta, ro.why = readMeta(f, thread)
	}
	if ro.why == errFirstOther {
		ro.tail.turn = turn{}
	}
	ro.file, ro.stamp = file, st
	return nil
}
