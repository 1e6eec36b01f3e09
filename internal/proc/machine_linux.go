package proc

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is when the machine booted, by the wall clock as it is set now: when the clock is set, Boot moves along.
func Boot() (time.Time, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, fmt.Errorf("read the time since boot: %w", err)
	}
	return time.Now().Round(0).Add(-time.Duration(up.Nano())), nil
}

// Domain names the machine and the pid namespace in which pids mean something here:
// "linux:<machine id>:pid:[<inode>]". It is "" where that cannot be told, and on systems other than Linux.
func Domain() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return domain(string(id), namespace)
}

// domain is "" unless both parts have the form that machine-id(5) and namespaces(7) give them.
func domain(machineID, namespace string) string {
	id := strings.TrimSpace(machineID)
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" || !strings.HasPrefix(namespace, "pid:[") {
		return ""
	}
	return "linux:" + id + ":" + namespace
}
