package codex

import (
	"errors"
	"time"
)

// fileID tells a file or folder from every other that is there at the same time.
type fileID struct{ dev, ino uint64 }

// stamp changes when a file does, but for two changes within one tick of a coarse file system clock.
type stamp struct{ size, mtime, ctime int64 }

// young is how old a file must be when it is read for its stamp to stand for its content. Two seconds is the coarsest
// clock among the file systems in use (FAT).
const young = 2 * time.Second

// racy tells whether a change right after now could leave the stamp as it is.
func (s stamp) racy(now time.Time) bool {
	return now.Sub(time.Unix(0, max(s.mtime, s.ctime))) < young
}

// Why a file of Codex's is not read.
var (
	errForeign = errors.New("belongs to another user")
	errSymlink = errors.New("is a symbolic link")
)
