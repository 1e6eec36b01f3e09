package state

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// fsType is "remote" for a folder on another machine, and "" for every other.
func fsType(path string) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "remote"
	}
	return ""
}
