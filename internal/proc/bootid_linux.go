package proc

import (
	"os"
	"strings"
)

// BootID is the same for as long as the machine runs and another one after every start, "" where it cannot be told.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
