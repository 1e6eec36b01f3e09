package proc

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is when the machine booted, by the wall clock as it is set now: when the clock is set, Boot moves along.
func Boot() (time.Time, error) {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, fmt.Errorf("read kern.boottime: %w", err)
	}
	return time.Unix(tv.Unix()), nil
}
