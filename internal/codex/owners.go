package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"peerbus/events"
	"peerbus/internal/proc"
	"peerbus/occupancy"
)

const (
	// maxLooks is how often the locks are looked at until two looks in a row see the same.
	maxLooks = 4
	// maxNamed is how many owners are told of one thread; more than one there are only with shared locks, which no
	// version of Codex's own takes.
	maxNamed = 32
)

// Owners looks for who holds the threads of those homes, by their locks. It keeps nothing from one look to the next,
// opens nothing in the folders of the locks on Linux, and takes no lock anywhere.
func Owners(homes []string) occupancy.Look {
	return owners{homes: homes, take: takeCensus, seesAll: seesAll}.read
}

// owners is how to look.
type owners struct {
	homes   []string
	take    func([]lockFile) census
	seesAll func() bool
}

// registry is what the homes had in them at one time: two looks at it, the later one of which counts.
type registry struct {
	owners
	was, now look
	all      bool // a lock that nobody is seen to hold is held by nobody
}

// look is what was seen at once.
type look struct {
	folders []seen // by home
	census  census
}

// seen is one home's folder of locks.
type seen struct {
	id    fileID
	files map[string]fileID // by thread
	odd   map[string]error  // threads whose lock is no regular file
	err   error
	twin  bool // an earlier home has the folder
}

// read looks until two looks in a row see the same, which can take as long as the user's own starting and ending of
// threads lasts, or for [maxLooks].
func (o owners) read(ctx context.Context) (occupancy.About, error) {
	r := &registry{owners: o, now: o.look(), all: o.seesAll()}
	for range maxLooks - 1 {
		select {
		case <-time.After(takenGap):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		r.was, r.now = r.now, o.look()
		if r.settled() {
			break
		}
	}
	return r.about, ctx.Err()
}

func (o owners) look() look {
	var l look
	var files []lockFile
	for _, home := range o.homes {
		folder := filepath.Join(home, "thread-writer-locks")
		s := seeFolder(folder)
		s.twin = s.err == nil && slices.ContainsFunc(l.folders, func(other seen) bool { return other.err == nil && other.id == s.id })
		l.folders = append(l.folders, s)
		for id, at := range s.files {
			files = append(files, lockFile{id: id, folder: folder, at: at})
		}
	}
	if len(files) > 0 {
		l.census = o.take(files)
	}
	return l
}

func seeFolder(path string) seen {
	d, err := openFolder(path)
	if err != nil {
		return seen{err: err}
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return seen{err: err}
	}
	s := seen{id: d.id, files: map[string]fileID{}, odd: map[string]error{}}
	for _, name := range names {
		id, ok := lockThread(name)
		if !ok {
			continue
		}
		at, _, err := d.stat(name)
		switch {
		case err == nil:
			s.files[id] = at
		case !errors.Is(err, fs.ErrNotExist):
			s.odd[id] = err
		}
	}
	return s
}

// settled tells whether the two looks have seen the same.
func (r *registry) settled() bool {
	for i, now := range r.now.folders {
		was := r.was.folders[i]
		if now.id != was.id || !maps.Equal(now.files, was.files) {
			return false
		}
		for id := range now.files {
			if !r.steady(i, id) {
				return false
			}
		}
	}
	return true
}

// steady tells whether both looks have seen the same of a thread in one home.
func (r *registry) steady(home int, thread string) bool {
	at, here := r.now.folders[home].files[thread]
	before, was := r.was.folders[home].files[thread]
	if here != was || at != before {
		return !here // what is gone is gone
	}
	later, earlier := r.now.census.of[at], r.was.census.of[at]
	return later.untold == earlier.untold && slices.Equal(later.takers, earlier.takers)
}

// takers are those who were seen to have taken the lock by one of the two looks.
func (r *registry) takers(lock lockFile) []taker {
	all := slices.Clone(r.now.census.of[lock.at].takers)
	for _, t := range r.was.census.of[lock.at].takers {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all[:min(len(all), maxNamed)]
}

// name is how something in a home is told of: with the home's path only where there are several.
func (r *registry) name(home int, parts ...string) string {
	path := filepath.Join(append([]string{"thread-writer-locks"}, parts...)...)
	if len(r.homes) > 1 {
		path = filepath.Join(r.homes[home], path)
	}
	return filepath.ToSlash(path)
}

// about says who holds the thread, by its lock in each of the homes.
func (r *registry) about(_ context.Context, thread string) occupancy.Found {
	f := occupancy.Found{Read: len(r.homes) > 0}
	doubt := func(reason occupancy.Reason, about, why string) {
		f.Doubts = append(f.Doubts, occupancy.Doubt{Reason: reason, About: about, Why: why})
	}
	for i, s := range r.now.folders {
		at, here := s.files[thread]
		name := r.name(i, lockName(thread))
		switch {
		case s.twin:
		case errors.Is(s.err, fs.ErrNotExist), errors.Is(s.err, errUnseen):
			doubt(occupancy.DetectorUnavailable, r.name(i), plain(s.err))
		case s.err != nil:
			doubt(occupancy.RegistryUnreadable, r.name(i), plain(s.err))
		case s.odd[thread] != nil:
			doubt(occupancy.RegistryUnreadable, name, plain(s.odd[thread]))
		case !here:
		case r.now.census.err != nil:
			doubt(occupancy.ProbeFailed, name, plain(r.now.census.err))
		default:
			held, reason, why := r.held(i, lockFile{id: thread, at: at})
			f.Owners = append(f.Owners, held...)
			if len(held) == 0 && reason == "" && !r.steady(i, thread) {
				reason, why = occupancy.HolderUnknown, "was taken or let go while it was looked at"
			}
			if reason != "" {
				doubt(reason, name, why)
			}
		}
	}
	return f
}

// held says who holds the lock in a home, and where somebody does and cannot be named, or may be hidden, why.
func (r *registry) held(home int, lock lockFile) (who []occupancy.Owner, reason occupancy.Reason, why string) {
	now := r.now.census.of[lock.at]
	switch {
	case now.why != nil:
		return nil, occupancy.ProbeFailed, plain(now.why)
	case now.untold:
		return nil, occupancy.HolderUnknown, "is held, and the kernel does not tell by whom"
	}
	var found []proc.Identity
	mine := false
	for _, t := range r.takers(lock) {
		ids, its, doubt := holders(t, lock)
		found, mine = append(found, ids...), mine || its
		if doubt != "" {
			reason, why = occupancy.HolderUnknown, doubt
		}
	}
	if !mine {
		// A row can be missed. What a process has open cannot, if it can be looked at.
		found = living(heirs(lock))
	}
	if len(found) == 0 && reason == "" && !r.all {
		return nil, occupancy.HolderUnknown, "is there, and holders outside of this pid namespace cannot be seen"
	}
	for _, id := range found {
		who = append(who, occupancy.Owner{
			Harness: events.Codex, Thread: lock.id, PID: id.PID, Start: id.Start, Source: "codex-locks", Status: statusNow(r.homes[home], lock.id),
		})
	}
	return who, reason, why
}

func living(pids []int) (who []proc.Identity) {
	for _, pid := range pids {
		if sight := proc.Look(pid); sight.Verdict == proc.Alive {
			who = append(who, proc.Identity{PID: pid, Start: sight.Start})
		}
	}
	return who
}

// holders are the processes that hold a lock which t has taken: mostly t itself. mine is that it is this lock, and not
// one on another device with the same number; doubt is why nobody can be named.
func holders(t taker, lock lockFile) (who []proc.Identity, mine bool, doubt string) {
	if t.pid == 0 {
		return nil, true, "is held, and the pid of who took it means nothing here"
	}
	sight := proc.Look(t.pid)
	if sight.Verdict == proc.Alive {
		open, err := inspect(t.pid, []lockFile{lock})
		switch {
		case err == nil && open.locks[lock.at], err != nil && !t.loose:
			return []proc.Identity{{PID: t.pid, Start: sight.Start}}, true, ""
		case err == nil && t.loose:
			return nil, false, ""
		}
	}
	if who = living(heirs(lock)); len(who) == 0 {
		return nil, true, fmt.Sprintf("is held, and not by pid %d, which took it", t.pid)
	}
	return who, true, ""
}

// statusNow is what the thread's rollout says now.
func statusNow(home, thread string) events.Status {
	ro := rollout{path: days{}.find(home, thread, time.Now())}
	if ro.path == "" {
		return events.Unknown
	}
	if ro.refresh(thread); ro.tail.turn.status == "" {
		return events.Unknown
	}
	return ro.tail.turn.status
}
