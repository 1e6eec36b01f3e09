package claude

import (
	"io/fs"
	"os"
)

const openFlags = 0

// ownedByUs is not asked: a file's owner is not among what a stat tells here.
func ownedByUs(fs.FileInfo) bool { return true }

// likeOld has nothing to do: the new file inherits its rights from the folder, as the old one did.
func likeOld(*os.File, fs.FileInfo) error { return nil }

// syncFolder has nothing to do: the file system keeps a journal of renamings.
func syncFolder(string) error { return nil }
