package state

import "golang.org/x/sys/unix"

// machineID is the IOPlatformUUID of the hardware, which the kernel gives as kern.uuid.
func machineID() string {
	id, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return id
}
