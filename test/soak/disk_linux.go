package main

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// mountSmall puts an empty disk of that many bytes over a folder.
func mountSmall(path string, size int) (unmount func() error, err error) {
	err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size="+strconv.Itoa(size))
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%w: mounting a small disk needs root: %w", errSkip, err)
	}
	if err != nil {
		return nil, fmt.Errorf("mount a small disk: %w", err)
	}
	return func() error {
		if err := unix.Unmount(path, 0); err != nil {
			return fmt.Errorf("unmount the small disk: %w", err)
		}
		return nil
	}, nil
}
