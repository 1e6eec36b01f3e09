package codex

import "errors"

// lockFile is the lock of a thread that is in a folder.
type lockFile struct {
	id     string
	folder string
	at     fileID
}

// census is what the kernel said at one instant about the locks on files.
type census struct {
	of  map[fileID]holding
	err error // why it could not be asked
}

// holding is what it said about one file. The zero value is that nobody holds it.
type holding struct {
	// takers are those who took a lock that is held. A taker may have ended since and have left the lock to a child.
	takers []taker
	// untold: it is held, and the kernel does not tell by whom.
	untold bool
	why    error // why it could not be asked about this file
}

// taker is the process that took a lock.
type taker struct {
	pid int // 0 where it means nothing here
	// loose: the kernel's row names another device than the file's status does. Some file systems (btrfs) have it so
	// for the same file, and on others that is a file which happens to have the same number.
	loose bool
}

var errUnseen = errors.New("threads of Codex cannot be seen on this system")

// descriptors is what a process has open, as far as threads go.
type descriptors struct {
	locks    map[fileID]bool   // those it has open by a descriptor that holds a lock
	rollouts map[string]string // the paths of the rollouts that it has open, by thread
}
