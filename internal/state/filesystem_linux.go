package state

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// The magic numbers are those of statfs(2) and linux/magic.h.
var fsNames = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.V9FS_MAGIC:       "9p",
	unix.CEPH_SUPER_MAGIC: "ceph",
	unix.AFS_FS_MAGIC:     "afs",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.FUSE_SUPER_MAGIC: "fuse",
}

// fsType names the file system that path is on, "" where it cannot be told.
func fsType(path string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return ""
	}
	return fsName(uint32(st.Type))
}

func fsName(magic uint32) string {
	if name, ok := fsNames[magic]; ok {
		return name
	}
	return "0x" + strconv.FormatUint(uint64(magic), 16)
}
