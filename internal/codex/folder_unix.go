//go:build unix

package codex

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// folder is an open folder. Files are named relative to it, so that what is looked at is in the folder that was opened,
// whatever its path leads to by now.
type folder struct {
	dir *os.File
	fd  int
	id  fileID
}

// openFolder opens the folder at path, behind a symbolic link too.
func openFolder(path string) (*folder, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return &folder{dir: os.NewFile(uintptr(fd), path), fd: fd, id: fileIDOf(&st)}, nil
}

// statFolder is the identity of the folder at path, and what changes when an entry of it does.
func statFolder(path string) (fileID, stamp, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileID{}, stamp{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileIDOf(&st), stampOf(&st), nil
}

func (d *folder) close() { d.dir.Close() } // opened for reading: nothing can be lost

// names lists the folder, in no order.
func (d *folder) names() ([]string, error) { return d.dir.Readdirnames(-1) }

// stat looks at a file without opening it. What is no regular file, a symbolic link among others, is errKind.
func (d *folder) stat(name string) (fileID, stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fileID{}, stamp{}, err
	}
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		return fileID{}, stamp{}, errKind
	}
	return fileIDOf(&st), stampOf(&st), nil
}

func fileIDOf(st *unix.Stat_t) fileID { return fileID{dev: uint64(st.Dev), ino: st.Ino} }

func stampOf(st *unix.Stat_t) stamp {
	return stamp{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
