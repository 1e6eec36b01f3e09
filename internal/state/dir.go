package state

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// The names in the folder that say whose it is.
const (
	lockFile    = "lock"
	versionFile = "version"
	machineFile = "machine"
	hostFile    = "host"
)

// Dir is a state folder.
type Dir struct {
	path     string
	host     string
	previous string
	start    string

	lock  *os.File // nil unless claimed; a collected *os.File would let go of the lock
	close sync.Once
}

// Open reads the state folder for a command; it writes nothing and takes no lock. The error is [ErrNone] where there
// is no state folder yet, and [ErrNewer] for one of a newer version.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open state folder: %w", err)
	}
	version, err := readVersion(path)
	if err != nil {
		return nil, err
	}
	if version == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNone, path)
	}
	host, err := readHost(path)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, host: host}, nil
}

// Path is the absolute path of the folder.
func (d *Dir) Path() string { return d.path }

// Host is the name under which this host is on the bus.
func (d *Dir) Host() string { return d.host }

// PreviousHost is the name that the host had until this claim, "" where it is the same.
func (d *Dir) PreviousHost() string { return d.previous }

// Start is when the claiming process started, as it said itself; "0" where it did not.
func (d *Dir) Start() string { return d.start }

// Close lets go of the folder. It may be called again.
func (d *Dir) Close() {
	d.close.Do(func() {
		if d.lock == nil {
			return
		}
		_ = d.lock.Truncate(0) // what it says is for people; the lock itself goes with the descriptor
		d.lock.Close()
	})
}

func (d *Dir) file(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}
