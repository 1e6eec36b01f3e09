//go:build !linux

package main

import (
	"fmt"
	"runtime"
)

// mountSmall is for Linux.
func mountSmall(string, int) (unmount func() error, err error) {
	return nil, fmt.Errorf("%w: no small disk can be mounted on %s", errSkip, runtime.GOOS)
}
