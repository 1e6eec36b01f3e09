package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var here = facts{fsType: "ext4", machine: "this machine"}

func mustClaim(t *testing.T, path string, o Claiming) *Dir {
	t.Helper()
	d, err := claim(path, o, here)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestTwoWatchersOnOneStateFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	first := holding(t, path)
	before := tree(t, path)

	_, err := Claim(path, Claiming{})
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || locked.PID != first.Process.Pid || locked.Path != path {
		t.Fatalf("the second claim answers %v, want that pid %d holds %s", err, first.Process.Pid, path)
	}
	oneLine(t, err, path)
	if d := cmp.Diff(before, tree(t, path)); d != "" {
		t.Errorf("the second claim wrote (-before +after):\n%s", d)
	}
}

func TestKill9FreesTheFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 3 {
		first := holding(t, path)
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		first.Wait() // killed
		d, err := Claim(path, Claiming{})
		if err != nil {
			t.Fatalf("claim after kill -9 of the holder: %v", err)
		}
		d.Close()
	}
}

func TestClosedFolderIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	d := mustClaim(t, path, Claiming{})
	if _, err := claim(path, Claiming{}, here); err == nil {
		t.Fatal("claimed twice in one process")
	}
	d.Close()
	d.Close()
	mustClaim(t, path, Claiming{})
}

// The rows "copied state folder", "state of a newer version" and "state on a network file system".
func TestRefusedFolderIsLeftAsItIs(t *testing.T) {
	stranger := func(t *testing.T, path string) {
		if err := os.Remove(filepath.Join(path, versionFile)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(path, "thesis.txt"), "the only copy")
	}
	for name, tc := range map[string]struct {
		facts   facts
		prepare func(t *testing.T, path string)
		want    error
	}{
		"copied":              {facts: facts{fsType: "ext4", machine: "another"}, want: ErrForeign},
		"newer":               {facts: here, prepare: version99, want: ErrNewer},
		"newer and copied":    {facts: facts{machine: "another"}, prepare: version99, want: ErrNewer},
		"nfs":                 {facts: facts{fsType: "nfs", machine: here.machine}, want: ErrNetwork},
		"smb":                 {facts: facts{fsType: "smb", machine: here.machine}, want: ErrNetwork},
		"smb2":                {facts: facts{fsType: "smb2", machine: here.machine}, want: ErrNetwork},
		"cifs":                {facts: facts{fsType: "cifs", machine: here.machine}, want: ErrNetwork},
		"9p":                  {facts: facts{fsType: "9p", machine: here.machine}, want: ErrNetwork},
		"macOS smbfs":         {facts: facts{fsType: "smbfs", machine: here.machine}, want: ErrNetwork},
		"macOS webdav":        {facts: facts{fsType: "webdav", machine: here.machine}, want: ErrNetwork},
		"macOS afpfs":         {facts: facts{fsType: "afpfs", machine: here.machine}, want: ErrNetwork},
		"Windows remote":      {facts: facts{fsType: "remote", machine: here.machine}, want: ErrNetwork},
		"somebody's folder":   {facts: here, prepare: stranger, want: ErrNotState},
		"version of no sense": {facts: here, prepare: func(t *testing.T, path string) { write(t, filepath.Join(path, versionFile), "one\ntwo\n") }, want: ErrNotState},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			mustClaim(t, path, Claiming{}).Close()
			if tc.prepare != nil {
				tc.prepare(t, path)
			}
			before := tree(t, path)
			d, err := claim(path, Claiming{Host: "other"}, tc.facts)
			if !errors.Is(err, tc.want) {
				t.Errorf("claim answers %v, %v; want %v", d, err, tc.want)
			}
			oneLine(t, err, path)
			if d := cmp.Diff(before, tree(t, path)); d != "" {
				t.Errorf("the refused claim wrote (-before +after):\n%s", d)
			}
		})
	}
}

func TestNetworkFolderIsNotMade(t *testing.T) {
	parent := t.TempDir()
	if _, err := claim(filepath.Join(parent, "a", "b"), Claiming{}, facts{fsType: "nfs"}); !errors.Is(err, ErrNetwork) {
		t.Errorf("claim on a network file system answers %v", err)
	}
	if names := tree(t, parent); len(names) != 1 {
		t.Errorf("it made %v", names)
	}
}

func TestLetThrough(t *testing.T) {
	for name, tc := range map[string]facts{
		"machine cannot be read": {fsType: "ext4"},
		"FUSE":                   {fsType: "fuse", machine: here.machine},
		"type cannot be told":    {machine: here.machine},
		"unknown type":           {fsType: "0x1234", machine: here.machine},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			mustClaim(t, path, Claiming{}).Close()
			d, err := claim(path, Claiming{}, tc)
			if err != nil {
				t.Fatal(err)
			}
			d.Close()
		})
	}
}

func TestThisMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 2 {
		d, err := Claim(path, Claiming{})
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	}
	if id := machineID(); id != "" {
		for name, f := range tree(t, path) {
			if strings.Contains(f.data, id) {
				t.Errorf("%s holds the raw machine id", name)
			}
		}
	}
}

// A first start that was ended at any file is finished by the next, with the key that may be in use already.
func TestInterruptedFirstStart(t *testing.T) {
	for _, missing := range [][]string{{}, {hostFile}, {hostFile, machineFile}} {
		path := filepath.Join(t.TempDir(), "state")
		d := mustClaim(t, path, Claiming{Host: "laptop"})
		key, err := d.PublicKey(SenderRole(LocalSender))
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		for _, name := range append(missing, versionFile) {
			if err := os.Remove(filepath.Join(path, name)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(path, tempPrefix+"123"), "half")
		if _, err := Open(path); !errors.Is(err, ErrNone) {
			t.Errorf("an unfinished folder is opened: %v", err)
		}
		d = mustClaim(t, path, Claiming{Host: "laptop"})
		if again, err := d.PublicKey(SenderRole(LocalSender)); err != nil || again != key {
			t.Errorf("the key is %s, %v; was %s", again, err, key)
		}
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if _, err := Open(path); !errors.Is(err, ErrNone) {
		t.Errorf("no folder: %v", err)
	}
	claimed := mustClaim(t, path, Claiming{Host: "laptop"})
	before := tree(t, path)
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	if d.Host() != "laptop" || d.Path() != claimed.Path() {
		t.Errorf("opened %s as %s", d.Path(), d.Host())
	}
	if d := cmp.Diff(before, tree(t, path)); d != "" {
		t.Errorf("opening wrote (-before +after):\n%s", d)
	}
	if _, err := claim(path, Claiming{}, here); err == nil {
		t.Error("closing an opened folder let go of the claimed one")
	}
	version99(t, path)
	if _, err := Open(path); !errors.Is(err, ErrNewer) {
		t.Errorf("newer folder: %v", err)
	}
}

func version99(t *testing.T, path string) { write(t, filepath.Join(path, versionFile), "99\n") }
