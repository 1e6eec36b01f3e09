package proc

import (
	"time"

	"golang.org/x/sys/windows"
)

// Boot is when the machine booted, by the wall clock as it is set now: when the clock is set, Boot moves along.
func Boot() (time.Time, error) {
	return time.Now().Round(0).Add(-windows.DurationSinceBoot()), nil
}
