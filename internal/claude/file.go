package claude

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"peerbus/internal/proc"
)

// maxFile is the largest record that is read. One of 2.1.332 has some 600 bytes; its texts can make it longer.
const maxFile = 64 << 10

// Why a file with the name of a record is not read.
var (
	errSymlink = errors.New("is a symbolic link")
	errFIFO    = errors.New("is a FIFO")
	errFolder  = errors.New("is a folder")
	errDevice  = errors.New("is a device")
	errSocket  = errors.New("is a socket")
	errKind    = errors.New("is no regular file")
	errForeign = errors.New("belongs to another user")
	errTooBig  = errors.New("is larger than 64 KiB")
)

// Why a file that ends in .json is no record by its name.
var (
	errName    = errors.New("is not named <pid>.json")
	errNamePID = errors.New("is named for a pid that cannot be")
)

// recordName is the pid that a name of exactly the form <pid>.json stands for. It is asked before a file is so much as
// looked at: what lies beside the records is none of our business.
func recordName(name string) (int, error) {
	digits, ok := strings.CutSuffix(name, ".json")
	if !ok || digits == "" || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return 0, errName
	}
	pid, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !proc.ValidPID(pid) {
		return 0, errNamePID
	}
	return int(pid), nil
}

func fileName(pid int) string { return strconv.Itoa(pid) + ".json" }

// folderID tells a folder from every other that is there at the same time.
type folderID struct{ dev, ino uint64 }

// fileKey changes when a file does, but for two changes within one tick of a coarse file system clock.
type fileKey struct {
	ino          uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

func (k fileKey) written() time.Time { return time.Unix(0, k.mtime) }

// young is how old a file must be when it is read for its key to stand for its content. Git calls younger ones racily
// clean. Two seconds is the coarsest clock among the file systems in use (FAT).
const young = 2 * time.Second

// racy tells whether a change right after now could leave the key as it is.
func (k fileKey) racy(now time.Time) bool {
	return now.Sub(time.Unix(0, max(k.mtime, k.ctime))) < young
}
