//go:build unix

package readme

import (
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// standInEnv has the test binary be a process that does nothing, which stands in for a session's.
const standInEnv = "PEERBUS_README_STANDIN"

// programs is the folder of what tests build; it is there until the last of them has ended.
var programs string

func TestMain(m *testing.M) {
	if os.Getenv(standInEnv) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // until its maker closes it, or ends
		return
	}
	var err error
	if programs, err = os.MkdirTemp("", "peerbus-readme"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(programs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}
