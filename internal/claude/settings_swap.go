package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// maxSwaps bounds the exchanges of one change. Two are needed to put back what came between; each more needs one more
// write of a rival in the microseconds between two exchanges.
const maxSwaps = 10

// change is a file that was replaced, or was not because of a rival.
type change struct {
	path  string
	aside string // where the file is that is not at path, "" where there is none
	ours  image  // the new file

	at, left image // what is at path and aside, if nobody has written since
}

// swap puts the file aside, which has put in it, in the place of expected, and leaves that aside. Where somebody has
// written since that was looked at, what they wrote is at the path in the end.
//
// Comparing before replacing would leave a time between the two. So the two files are exchanged, and what came out is
// compared: if it is not what was expected, somebody wrote meanwhile, and it is put back; if then something else comes
// out than was put in, somebody wrote over that, and so on. A writer that truncates, as the client does, is seen
// before the exchange, and after it writes to the new file.
func (c *change) swap(put, expected image) error {
	for range maxSwaps {
		err := exchange(c.aside, c.path)
		if errors.Is(err, errors.ErrUnsupported) {
			return c.rename(put, expected)
		}
		if err != nil {
			return c.stuck(put, err)
		}
		out, err := readImage(c.aside)
		if err != nil {
			out = image{} // a link or the like, which is put back as well
		}
		if out.same(expected) {
			c.at, c.left = put, out
			return nil
		}
		put, expected = out, put
	}
	return c.stuck(put, fmt.Errorf("it changes too fast, after %d tries", maxSwaps))
}

// rename is for file systems that cannot exchange two files. Between comparing and renaming there is a time in which
// an edit would be lost.
func (c *change) rename(put, expected image) error {
	now, err := readImage(c.path)
	if err != nil || !now.same(expected) {
		c.at, c.left = now, put
		return nil
	}
	if err := os.Rename(c.aside, c.path); err != nil {
		return c.stuck(put, err)
	}
	c.at, c.aside = put, ""
	return nil
}

// create puts the new file where there was none.
func (c *change) create() error {
	err := os.Link(c.aside, c.path) // unlike a renaming it replaces nothing
	if err == nil {
		c.at = c.ours
	} else if errors.Is(err, fs.ErrExist) {
		err = nil // and what is there is a rival's
	}
	err = errors.Join(err, os.Remove(c.aside))
	c.aside = ""
	return err
}

// stuck says that the file aside did not get into its place. Unless it is ours it has an edit of somebody, and stays.
func (c *change) stuck(aside image, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(ErrRival, errors.New("it is gone"))
	}
	if aside.same(c.ours) {
		err = errors.Join(err, os.Remove(c.aside))
	} else {
		err = errors.Join(ErrRival, fmt.Errorf("an edit of theirs is in %s", c.aside), err)
	}
	c.aside = ""
	return err
}

// finish removes the file aside, once it is certain that nobody has written to it: who had it open before the exchange
// may write after it. Such an edit is put in its place. The error is [ErrRival] where what is at the path is not ours.
func (c *change) finish() error {
	if c.aside != "" {
		old, err := readImage(c.aside)
		if err == nil && !old.same(c.left) {
			err = c.swap(old, c.at)
		}
		if err != nil {
			return err
		}
		if err := os.Remove(c.aside); err != nil {
			return err
		}
	}
	if !c.at.same(c.ours) {
		return ErrRival
	}
	return nil
}
