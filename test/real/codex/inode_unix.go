//go:build unix

package codex

import (
	"os"
	"syscall"
)

// inode is the number by which /proc/locks names a file.
func inode(info os.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
