package state

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// Free is how many bytes this user can still write to the disk that the folder is on.
func (d *Dir) Free() (uint64, error) {
	path, err := windows.UTF16PtrFromString(d.path)
	if err != nil {
		return 0, fmt.Errorf("ask for the space left on %s: %w", d.path, err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("ask for the space left on %s: %w", d.path, err)
	}
	return free, nil
}
