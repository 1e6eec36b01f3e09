//go:build unix

package codex

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens a file of ours for reading. It follows no link at the path's end, waits for no writer of a FIFO, and
// opens nothing but regular files of our own.
func openFile(path string) (*os.File, fileID, stamp, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	})
	if err == unix.ELOOP {
		err = errSymlink
	}
	if err != nil {
		return nil, fileID{}, stamp{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	switch {
	case err != nil:
	case uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG:
		err = errKind
	case int(st.Uid) != os.Geteuid():
		err = errForeign
	default:
		err = unix.SetNonblock(fd, false) // os.File would ask the poller, which regular files have no use for
	}
	if err == nil {
		return os.NewFile(uintptr(fd), path), fileIDOf(&st), stampOf(&st), nil
	}
	unix.Close(fd)
	return nil, fileID{}, stamp{}, &fs.PathError{Op: "open", Path: path, Err: err}
}

// statFile looks at the file at path without opening it.
func statFile(path string) (fileID, stamp, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, stamp{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileIDOf(&st), stampOf(&st), nil
}
