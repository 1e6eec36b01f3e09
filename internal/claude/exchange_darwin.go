package claude

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two files at one instant. The error is errors.ErrUnsupported where the file system cannot: APFS can,
// HFS+ and network shares cannot.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	switch err {
	case nil:
		return nil
	case unix.EINVAL, unix.ENOTSUP:
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
