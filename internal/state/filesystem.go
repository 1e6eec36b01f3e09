package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// networked are the file systems that several machines may have mounted at once. Their locks and syncs are only as
// good as the server and the mount options, and an event log needs both.
//
// FUSE is let through: its type does not tell an encrypted local home from sshfs. A folder that two machines
// share through it is refused to the second one by the machine's identity.
var networked = map[string]bool{
	"nfs": true, "smb": true, "cifs": true, "smb2": true, "9p": true, "ceph": true, "afs": true, // Linux
	"smbfs": true, "webdav": true, "afpfs": true, // macOS, nfs too
	"remote": true, // Windows
}

func refuseNetwork(path, fsType string) error {
	if !networked[fsType] {
		return nil
	}
	return fmt.Errorf("%w (%s), which keeps no log safe: %s; name a local one by --state or PEERBUS_STATE", ErrNetwork, fsType, path)
}

// nearest is path, or the closest folder above it that is there.
func nearest(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}
