//go:build !windows

package state

import "os"

// syncDir makes renames in the folder last.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
