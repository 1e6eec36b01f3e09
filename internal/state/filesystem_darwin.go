package state

import "golang.org/x/sys/unix"

// fsType names the file system that path is on, "" where it cannot be told.
func fsType(path string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
