package state

import (
	"fmt"
	"os"
	"path/filepath"
)

// tempPrefix begins the names of files that are not in their place yet.
const tempPrefix = ".new-"

// replace puts data where path is, 0600: a reader sees the old file or the new one, also after a loss of power.
func replace(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeTemp writes data to a new file beside path and syncs it.
func writeTemp(path string, data []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*") // 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
