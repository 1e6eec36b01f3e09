package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

const (
	// maxRecords is how many records a folder may have before that alone is a doubt: nobody runs so many sessions, and
	// who fills the folder may be hiding one.
	maxRecords = 500

	// maxDoubts is how many doubts are told one by one, so that an answer fits into a message.
	maxDoubts = 500
)

// Owners looks for who holds the sessions of those homes. It keeps nothing from one look to the next.
func Owners(homes []string) occupancy.Look {
	return owners{homes: homes, domain: proc.Domain(), look: proc.Look}.read
}

// owners is how to look.
type owners struct {
	homes  []string
	domain string // our own pid domain, "" where it is not known
	look   func(pid int) proc.Sight
}

// registry is all that the homes had in them at one time.
type registry struct {
	owners
	entries []entry // in the order of the homes, and in one home of the pids
	boot    time.Time
}

// entry is one record, or what stands where one should be.
type entry struct {
	about   string // how it is told of
	pid     int
	rec     Record
	written time.Time
	doubt   occupancy.Reason // set where the record was not read
	why     error
}

// read reads every record of every home. Torn ones are read again, all at a time.
func (o owners) read(ctx context.Context) (occupancy.About, error) {
	r := &registry{owners: o, boot: bootTime()}
	buf := make([]byte, maxFile+1)
	var seen []folderID
	for _, home := range o.homes {
		d, err := openFolder(filepath.Join(home, "sessions"))
		if err != nil {
			r.unopened(home, err)
			continue
		}
		if !slices.Contains(seen, d.id) {
			seen = append(seen, d.id)
			err = r.readFolder(ctx, home, d, buf)
		}
		d.close()
		if err != nil {
			return nil, err
		}
	}
	return r.about, nil
}

func (r *registry) unopened(home string, err error) {
	e := entry{about: r.name(home, ""), doubt: occupancy.RegistryUnreadable, why: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.doubt = occupancy.DetectorUnavailable
	}
	r.entries = append(r.entries, e)
}

// name is how a file of the home is told of: with the home's path only where there are several.
func (r *registry) name(home, file string) string {
	if len(r.homes) == 1 {
		home = ""
	}
	return filepath.ToSlash(filepath.Join(home, "sessions", file))
}

func (r *registry) readFolder(ctx context.Context, home string, d *folder, buf []byte) error {
	names, err := d.names()
	if err != nil {
		r.unopened(home, err)
		return nil
	}
	found, records := r.listed(home, names)
	if records > maxRecords {
		r.entries = append(r.entries, entry{
			about: r.name(home, ""), doubt: occupancy.RegistryUnreadable, why: fmt.Errorf("has %d records, more than %d", records, maxRecords),
		})
	}
	for i := range found {
		found[i].load(d, buf)
	}
	for _, wait := range tornRetries {
		if !slices.ContainsFunc(found, entry.torn) {
			break
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for i := range found {
			if found[i].torn() {
				found[i].load(d, buf)
			}
		}
	}
	r.entries = append(r.entries, found...)
	return ctx.Err()
}

// listed are the records among the names of a home's folder, in order: first what is named like a record of a pid that
// cannot be, which nobody can judge. records is how many there are.
func (r *registry) listed(home string, names []string) (found []entry, records int) {
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ".json")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		e := entry{about: r.name(home, name)}
		if e.pid, e.why = recordName(name); e.why != nil {
			e.doubt = occupancy.RegistryUnreadable
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b entry) int {
		if a.pid != b.pid {
			return a.pid - b.pid
		}
		return strings.Compare(a.about, b.about)
	})
	return found, len(found)
}

// relied are the fields without which nothing follows from a record: whose pid it names, and who goes on for whom.
var relied = []string{"pidDomain", "jobId", "parkedJobId"}

// load reads the record. One that is not there any more leaves an entry that is about no session.
func (e *entry) load(d *folder, buf []byte) {
	if e.pid == 0 {
		return
	}
	e.rec, e.doubt, e.why = Record{}, "", nil
	err := e.tryLoad(d, buf)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.rec, e.doubt, e.why = Record{}, occupancy.RegistryUnreadable, err
	}
}

func (e *entry) tryLoad(d *folder, buf []byte) error {
	if _, err := d.stat(fileName(e.pid)); err != nil {
		return err
	}
	data, key, err := d.read(fileName(e.pid), buf)
	if err != nil {
		return err
	}
	if e.rec, err = Decode(data); err != nil {
		return err
	}
	if e.rec.PID != e.pid {
		return errOtherPID
	}
	for _, b := range e.rec.Bad {
		if slices.Contains(relied, b.Name) {
			return fmt.Errorf("%s %s", b.Name, b.Why)
		}
	}
	e.written = key.written()
	return nil
}

func (e entry) torn() bool { return errors.Is(e.why, ErrTorn) }

// about says who holds the thread, by the records that name it and by the processes and sockets that these name. While
// the job lives to which a window has handed its session, the job is who holds it.
func (r *registry) about(_ context.Context, thread string) occupancy.Found {
	f := findings{registry: r, thread: thread}
	for _, e := range r.entries {
		if e.doubt != "" {
			f.doubt(e, e.doubt, bareText(e.why))
		} else if e.rec.Session == thread && !slices.ContainsFunc(r.jobsOf(e), f.holds) {
			f.holds(e)
		}
	}
	if f.untold > 0 {
		f.Doubts = append(f.Doubts, occupancy.Doubt{
			Reason: occupancy.RegistryUnreadable, About: "sessions", Why: fmt.Sprintf("and %d more", f.untold),
		})
	}
	f.Read = len(r.homes) > 0
	return f.Found
}

// findings are what is found about one thread.
type findings struct {
	*registry
	thread string
	occupancy.Found
	untold int // doubts beyond maxDoubts
}

// holds notes what the record's claim comes to, and tells whether its process holds the thread.
func (f *findings) holds(e entry) bool {
	reason, why := f.claim(e)
	switch reason {
	case "":
		return false
	case occupancy.LiveProcess:
		p := e.rec.peer("", why)
		f.Owners = append(f.Owners, occupancy.Owner{
			Harness: p.Harness, Thread: f.thread, PID: p.PID, Start: p.Start, Source: "claude-registry", Status: p.Status,
		})
		return true
	}
	f.doubt(e, reason, why)
	return false
}

func (f *findings) doubt(e entry, reason occupancy.Reason, why string) {
	if len(f.Doubts) == maxDoubts {
		f.untold++
		return
	}
	f.Doubts = append(f.Doubts, occupancy.Doubt{Reason: reason, About: e.about, Why: why})
}

// jobsOf are the records of the job to which the window of e has handed its session.
func (r *registry) jobsOf(e entry) []entry {
	if e.rec.Parked == "" {
		return nil
	}
	var jobs []entry
	for _, j := range r.entries {
		if j.doubt == "" && j.rec.Job == e.rec.Parked {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// claim looks at the process and the socket that the record names, and says what that comes to; see [claim.judge].
func (r *registry) claim(e entry) (reason occupancy.Reason, why string) {
	c := claim{rec: e.rec, written: e.written, boot: r.boot, domain: r.domain, sight: r.look(e.pid)}
	if c.sight.Verdict == proc.Alive {
		c.socket = findSocket(e.rec)
	}
	return c.judge()
}

var errNoSocket = errors.New("the record names no socket")

// findSocket says why what the record names as its socket is not there. Any kind of file will do: what it is for is to
// be told from a record that was made up.
func findSocket(rec Record) error {
	if !filepath.IsAbs(rec.Socket) || !rec.whole("messagingSocketPath") {
		return errNoSocket
	}
	_, err := os.Lstat(rec.Socket)
	return err
}

// bareText is what err says, without the path that it may begin with.
func bareText(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error()
}
