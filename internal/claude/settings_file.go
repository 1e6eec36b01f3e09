package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSettings is the largest file of settings that is read. Real ones have some KiB.
const maxSettings = 1 << 20

var errSettingsTooBig = errors.New("is larger than 1 MiB")

// readSettings reads and takes apart the settings at path. The error is one that says why not, behind the file's name;
// fs.ErrNotExist where there are none.
func readSettings(path string) (settingsFile, error) {
	im, err := readImage(path)
	if err != nil {
		return settingsFile{}, err
	}
	doc, err := parseDocument(im.data, policyKey)
	return settingsFile{im, doc}, err
}

// image is what was at a path: which file, and what was in it.
type image struct {
	info fs.FileInfo // nil where there is no file
	data []byte
}

func (im image) same(other image) bool {
	return im.info != nil && other.info != nil && os.SameFile(im.info, other.info) && bytes.Equal(im.data, other.data)
}

// readImage reads a regular file of ours without following a link.
func readImage(path string) (image, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return image{}, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(path)
		return image{}, errors.Join(fmt.Errorf("%w to %s: change that file", errSymlink, target), err)
	}
	if !info.Mode().IsRegular() { // before it is opened, which a FIFO or a device may mind
		return image{}, errKind
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return image{}, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return image{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return image{}, errKind
	case !ownedByUs(info):
		return image{}, errForeign
	case info.Size() > maxSettings:
		return image{}, errSettingsTooBig
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = errSettingsTooBig
	}
	return image{info, data}, err
}

// replace puts data in the file's place, unless somebody else has written since f was read, or made a file where there
// was none: see [change.finish]. Readers see a whole file, also after a loss of power.
func (s *Settings) replace(f settingsFile, data []byte) (change, error) {
	aside, err := writeAside(s.path(), data, f.info)
	if err != nil {
		return change{}, err
	}
	c := change{path: s.path(), aside: aside}
	if c.ours, err = readImage(aside); err != nil {
		return change{}, errors.Join(err, os.Remove(aside))
	}
	if s.replacing != nil {
		s.replacing()
	}
	if f.info == nil {
		err = c.create()
	} else {
		err = c.swap(c.ours, f.image)
	}
	if err != nil {
		return change{}, err
	}
	return c, syncFolder(s.home)
}

// writeAside writes data to a new file beside path, with the mode and the group of the old one.
func writeAside(path string, data []byte, old fs.FileInfo) (aside string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".peerbus-*") // 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && old != nil {
		err = likeOld(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
