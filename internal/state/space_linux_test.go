package state

import (
	"path/filepath"
	"testing"

	"peerbus/test/tmpfs"
)

func TestFreeSpace(t *testing.T) {
	const size = 1 << 20
	tmpfs.Run(t, size, func(t *testing.T, root string) {
		d := mustClaim(t, filepath.Join(root, "state"), Claiming{})
		if free, err := d.Free(); err != nil || free == 0 || free > size {
			t.Errorf("%d bytes of %d are free: %v", free, size, err)
		}
		space := tmpfs.Fill(t, root)
		if free, err := d.Free(); err != nil || free != 0 {
			t.Errorf("%d bytes are free on a full disk: %v", free, err)
		}
		space()
	})
}
