package state

import (
	"os"
	"strings"
)

// machineID is made when the system is installed. First-boot images hold "uninitialized" for a while.
func machineID() string {
	data, err := os.ReadFile("/etc/machine-id")
	id := strings.TrimSpace(string(data))
	if err != nil || id == "uninitialized" {
		return ""
	}
	return id
}
