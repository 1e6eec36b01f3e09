//go:build unix

package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from following a link, and from waiting, where the file has become another one since it was
// looked at.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// likeOld gives f the group and the mode of the old file.
func likeOld(f *os.File, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("the owner of the file is not known")
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := now.Sys().(*syscall.Stat_t); !ok || st.Gid != was.Gid {
		if err := f.Chown(-1, int(was.Gid)); err != nil {
			return fmt.Errorf("keep the group: %w", err)
		}
	}
	return f.Chmod(old.Mode().Perm())
}

// syncFolder makes the renamings in a folder last.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
