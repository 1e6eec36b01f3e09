//go:build unix

package state

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Free is how many bytes this user can still write to the disk that the folder is on.
func (d *Dir) Free() (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(d.path, &st); err != nil {
		return 0, fmt.Errorf("ask for the space left on %s: %w", d.path, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}
