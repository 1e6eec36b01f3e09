//go:build unix

package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

var errNoSocket = errors.New("is there and is no socket")

// controlSocket is the socket of the home's daemon. It is mostly a link into a folder for temporary files, since a path
// to a socket must be short; what it leads to must be a socket of our own.
func controlSocket(home string) (string, error) {
	path := filepath.Join(home, "app-server-control", "app-server-control.sock")
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != fs.ModeSocket:
		err = errNoSocket
	case !ok || int(owner.Uid) != os.Geteuid():
		err = errForeign
	default:
		return path, nil
	}
	return "", &fs.PathError{Op: "connect to", Path: path, Err: err}
}
