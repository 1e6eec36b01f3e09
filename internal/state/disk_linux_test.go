package state

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"peerbus/test/tmpfs"
)

func TestReadOnlyStateFolder(t *testing.T) {
	tmpfs.Run(t, 1<<20, func(t *testing.T, root string) {
		there, absent := filepath.Join(root, "state"), filepath.Join(root, "absent")
		mustClaim(t, there, Claiming{}).Close()
		before := tree(t, root)
		tmpfs.ReadOnly(t, root, true)
		for _, path := range []string{there, absent} {
			d, err := claim(path, Claiming{}, here)
			if !errors.Is(err, syscall.EROFS) {
				t.Errorf("claim answers %v, %v", d, err)
			}
			oneLine(t, err, path)
		}
		if d, err := Open(there); err != nil || d.Host() == "" {
			t.Errorf("a command cannot read: %v, %v", d, err)
		}
		tmpfs.ReadOnly(t, root, false)
		if d := cmp.Diff(before, tree(t, root)); d != "" {
			t.Errorf("it wrote (-before +after):\n%s", d)
		}
		mustClaim(t, there, Claiming{})
	})
}

func TestFullDisk(t *testing.T) {
	tmpfs.Run(t, 1<<20, func(t *testing.T, root string) {
		there, absent := filepath.Join(root, "state"), filepath.Join(root, "absent")
		mustClaim(t, there, Claiming{}).Close()
		free := tmpfs.Fill(t, root)
		for _, path := range []string{there, absent} {
			d, err := claim(path, Claiming{}, here)
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("claim answers %v, %v", d, err)
			}
			oneLine(t, err, path)
		}
		free()
		for _, path := range []string{there, absent} {
			d := mustClaim(t, path, Claiming{})
			fill(t, d)
			free := tmpfs.Fill(t, root)
			if err := d.WriteServer(Server{URL: "another"}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("written on a full disk: %v", err)
			}
			if s, err := d.Server(); s != someServer || err != nil {
				t.Errorf("a failed write left %v, %v", s, err)
			}
			if err := d.Beat(time.Now()); err != nil {
				t.Errorf("a beat needs space: %v", err)
			}
			free()
		}
	})
}
