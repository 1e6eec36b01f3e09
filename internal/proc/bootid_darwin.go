package proc

import "golang.org/x/sys/unix"

// BootID is the same for as long as the machine runs and another one after every start, "" where it cannot be told.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
