package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// version is that of the folder's layout, as this program writes it.
const version = 1

// readVersion is the version of the folder at path, 0 where there is none: no folder, or one that was never finished.
func readVersion(path string) (int, error) {
	data, err := os.ReadFile(filepath.Join(path, versionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read version of the state folder: %w", err)
	}
	v, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || v < 1 {
		return 0, fmt.Errorf("%w: its version is %.20q%s", ErrNotState, data, anew(path))
	}
	if v > version {
		return 0, fmt.Errorf("%w: %d, this program knows %d%s", ErrNewer, v, version, anew(path))
	}
	return v, nil
}
