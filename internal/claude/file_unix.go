//go:build unix

package claude

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// folder is an open folder of records. Files are named relative to it, so that what is read is in the folder that was
// looked at, whatever its path leads to by now.
type folder struct {
	dir *os.File
	fd  int
	id  folderID
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
	return &folder{dir: os.NewFile(uintptr(fd), path), fd: fd, id: folderIDOf(&st)}, nil
}

// statFolder is the identity of the folder at path.
func statFolder(path string) (folderID, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return folderID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return folderIDOf(&st), nil
}

func (d *folder) close() { d.dir.Close() } // opened for reading: nothing can be lost

// names lists the folder, in no order.
func (d *folder) names() ([]string, error) { return d.dir.Readdirnames(-1) }

// stat looks at a file without opening it, and says why it should not be read.
func (d *folder) stat(name string) (fileKey, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fileKey{}, err
	}
	return keyOf(&st), refuse(&st)
}

// read reads a file into buf, which is longer than maxFile, and returns the part that it filled. It follows no link,
// waits for no writer of a FIFO, and reads nothing that its stat refuses.
func (d *folder) read(name string, buf []byte) ([]byte, fileKey, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, fileKey{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fileKey{}, err
	}
	if err := refuse(&st); err != nil {
		return nil, keyOf(&st), err
	}
	n := 0
	for n < len(buf) {
		m, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return nil, keyOf(&st), err
		}
		if m == 0 {
			break
		}
		n += m
	}
	if n > maxFile {
		return nil, keyOf(&st), errTooBig
	}
	return buf[:n], keyOf(&st), nil
}

// refuse says why a file with that status is not read.
func refuse(st *unix.Stat_t) error {
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		return errSymlink
	case unix.S_IFIFO:
		return errFIFO
	case unix.S_IFDIR:
		return errFolder
	case unix.S_IFCHR, unix.S_IFBLK:
		return errDevice
	case unix.S_IFSOCK:
		return errSocket
	default:
		return errKind
	}
	if int(st.Uid) != os.Geteuid() {
		return errForeign
	}
	if st.Size > maxFile {
		return errTooBig
	}
	return nil
}

func folderIDOf(st *unix.Stat_t) folderID { return folderID{dev: uint64(st.Dev), ino: st.Ino} }

func keyOf(st *unix.Stat_t) fileKey {
	return fileKey{ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
