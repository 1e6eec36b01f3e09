package state

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Claiming is what a watcher says when it claims a folder.
type Claiming struct {
	// Host is the host's name from now on; "" is the kept one, and at first the operating system's.
	Host string
	// Start is when this process started, as the operating system says it; it is written down beside the pid.
	Start string
}

// facts are what the machine says of itself and of the folder.
type facts struct {
	fsType  string
	machine string
}

// Claim takes the state folder for this process until [Dir.Close], and makes it where there is none. It fails at once,
// and has then written nothing: with a [LockedError] where another watcher has it, [ErrNewer] for a folder of a newer
// version, [ErrForeign] for one that was copied from another machine, [ErrNetwork] for one on a network file
// system, [ErrNotState] for a folder of somebody else. Any other error is that of a folder that cannot be written.
func Claim(path string, o Claiming) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("claim state folder: %w", err)
	}
	return claim(abs, o, facts{fsType: fsType(nearest(abs)), machine: machineHash()})
}

func claim(path string, o Claiming, f facts) (*Dir, error) {
	if o.Host != "" {
		if err := CheckHost(o.Host); err != nil {
			return nil, fmt.Errorf("claim state folder as host %q: %w", o.Host, err)
		}
	}
	if err := refuseNetwork(path, f.fsType); err != nil {
		return nil, err
	}
	if _, err := inspect(path, f); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock, start: cmp.Or(o.Start, "0")}
	if err := d.settle(o, f); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// inspect tells whether the folder is still to be made, and refuses one that is not ours to use.
func inspect(path string, f facts) (fresh bool, err error) {
	v, err := readVersion(path)
	if err != nil {
		return false, err
	}
	if v == 0 {
		return true, refuseStrange(path)
	}
	kept, err := os.ReadFile(filepath.Join(path, machineFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read the state folder's machine: %w", err)
	}
	if was := strings.TrimSpace(string(kept)); was != "" && f.machine != "" && was != f.machine {
		return false, fmt.Errorf("%w%s", ErrForeign, anew(path))
	}
	return false, nil
}

// refuseStrange lets pass what is empty, not there, or was begun by us and not finished.
func refuseStrange(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the state folder: %w", err)
	}
	for _, e := range entries {
		switch e.Name() {
		case lockFile, hostFile, machineFile, keysFolder:
		default:
			if !strings.HasPrefix(e.Name(), tempPrefix) {
				return fmt.Errorf("%w: %s; name another by --state or PEERBUS_STATE", ErrNotState, path)
			}
		}
	}
	return nil
}

func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	free, err := tryLock(f)
	if err == nil && free {
		return f, nil
	}
	defer f.Close()
	if err != nil {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	return nil, &LockedError{Path: path, PID: holder(f)}
}

// holder is the pid that the lock's holder wrote into it, 0 where it has not yet.
func holder(f io.Reader) int {
	data, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	pid, err := strconv.Atoi(first)
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

// settle makes the claimed folder whole. The version is written last: a folder that has one is complete.
func (d *Dir) settle(o Claiming, f facts) error {
	fresh, err := inspect(d.path, f) // again: what is there now can no longer change
	if err != nil {
		return err
	}
	if err := d.sign(); err != nil {
		return err
	}
	if err := d.RemoveServer(); err != nil { // of one that was killed
		return err
	}
	if fresh {
		return d.begin(o, f)
	}
	kept, err := readHost(d.path)
	if err != nil {
		return err
	}
	d.host = kept
	if o.Host != "" && o.Host != kept {
		d.host, d.previous = o.Host, kept
	}
	return nil
}

// sign writes who holds the lock into it.
func (d *Dir) sign() error {
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("lock the state folder: %w", err)
	}
	if _, err := d.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+" "+d.start+"\n"), 0); err != nil {
		return fmt.Errorf("lock the state folder: %w", err)
	}
	return nil
}

func (d *Dir) begin(o Claiming, f facts) error {
	d.host = o.Host
	if d.host == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("name this host, give --host: %w", err)
		}
		if err := CheckHost(name); err != nil {
			return fmt.Errorf("name this host %q, give --host: %w", name, err)
		}
		d.host = name
	}
	if err := os.Chmod(d.path, 0o700); err != nil { // it may have been there, empty
		return fmt.Errorf("make the state folder: %w", err)
	}
	if _, err := d.EnsureKey(SenderRole(LocalSender)); err != nil {
		return err
	}
	if f.machine != "" {
		if err := replace(d.file(machineFile), []byte(f.machine+"\n")); err != nil {
			return err
		}
	}
	if err := replace(d.file(hostFile), []byte(d.host+"\n")); err != nil {
		return err
	}
	return replace(d.file(versionFile), []byte(strconv.Itoa(version)+"\n"))
}
