package codex

import (
	"path/filepath"
	"time"
)

// days are the folders of the days on which rollouts were begun, home/sessions/YYYY/MM/DD, as they were last listed.
type days map[string]*day

// day is one of them.
type day struct {
	id       fileID // the zero value while it is not there
	stamp    stamp
	listed   time.Time
	asked    time.Time         // when it was last looked at
	rollouts map[string]string // by thread
}

// foldersOf are the folders in which the rollout of a thread can be. Codex names them by the local date on which the
// thread was made, which is within a day of the date in UTC. Of an id that tells no time there are none.
func foldersOf(home, thread string) []string {
	at, ok := born(thread)
	if !ok {
		return nil
	}
	var out []string
	for _, off := range []int{0, -1, 1} {
		out = append(out, filepath.Join(home, "sessions", at.AddDate(0, 0, off).Format("2006/01/02")))
	}
	return out
}

// find is the path of the thread's rollout, "" if it is in none of the folders where it can be.
func (d days) find(home, thread string, now time.Time) string {
	for _, folder := range foldersOf(home, thread) {
		if name := d.look(folder, now).rollouts[thread]; name != "" {
			return filepath.Join(folder, name)
		}
	}
	return ""
}

// look lists the folder, if it may be other than it was.
func (d days) look(folder string, now time.Time) *day {
	y := d[folder]
	if y == nil {
		y = &day{}
		d[folder] = y
	}
	if y.asked.Equal(now) {
		return y
	}
	y.asked = now
	id, st, err := statFolder(folder)
	if err != nil {
		*y = day{asked: now}
		return y
	}
	if id == y.id && st == y.stamp && !st.racy(y.listed) {
		return y
	}
	f, err := openFolder(folder)
	if err != nil {
		*y = day{asked: now}
		return y
	}
	defer f.close()
	names, err := f.names()
	if err != nil {
		*y = day{asked: now}
		return y
	}
	*y = day{id: id, stamp: st, listed: now, asked: now, rollouts: map[string]string{}}
	for _, name := range names {
		if thread, ok := rolloutThread(name); ok {
			y.rollouts[thread] = name
		}
	}
	return y
}

// forget drops the days that were not looked at by now: nobody who is there needs them.
func (d days) forget(now time.Time) {
	for folder, y := range d {
		if !y.asked.Equal(now) {
			delete(d, folder)
		}
	}
}
