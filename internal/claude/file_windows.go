package claude

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// folder is an open folder of records. Windows opens no file relative to another; a folder that is replaced while it
// is read is found by the next sweep.
type folder struct {
	dir *os.File
	id  folderID
}

// openFolder opens the folder at path, behind a symbolic link too.
func openFolder(path string) (*folder, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	id, err := folderIDOf(dir)
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &folder{dir: dir, id: id}, nil
}

// statFolder is the identity of the folder at path.
func statFolder(path string) (folderID, error) {
	d, err := openFolder(path)
	if err != nil {
		return folderID{}, err
	}
	defer d.close()
	return d.id, nil
}

func (d *folder) close() { d.dir.Close() } // opened for reading: nothing can be lost

// names lists the folder, in no order.
func (d *folder) names() ([]string, error) { return d.dir.Readdirnames(-1) }

// stat looks at a file without opening it, and says why it should not be read.
func (d *folder) stat(name string) (fileKey, error) {
	info, err := os.Lstat(filepath.Join(d.dir.Name(), name))
	if err != nil {
		return fileKey{}, err
	}
	return keyOf(info), refuse(info)
}

// read reads a file into buf, which is longer than maxFile, and returns the part that it filled.
func (d *folder) read(name string, buf []byte) ([]byte, fileKey, error) {
	f, err := os.Open(filepath.Join(d.dir.Name(), name))
	if err != nil {
		return nil, fileKey{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileKey{}, err
	}
	if err := refuse(info); err != nil {
		return nil, keyOf(info), err
	}
	n, err := io.ReadFull(f, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, keyOf(info), err
	}
	if n > maxFile {
		return nil, keyOf(info), errTooBig
	}
	return buf[:n], keyOf(info), nil
}

// refuse says why a file like that is not read. Owners are not looked at: the folder is the user's own by its rights.
func refuse(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return errSymlink
	case mode.IsDir():
		return errFolder
	case !mode.IsRegular():
		return errKind
	case info.Size() > maxFile:
		return errTooBig
	}
	return nil
}

func folderIDOf(dir *os.File) (folderID, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(dir.Fd()), &info); err != nil {
		return folderID{}, &fs.PathError{Op: "stat", Path: dir.Name(), Err: err}
	}
	if info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 {
		return folderID{}, &fs.PathError{Op: "open", Path: dir.Name(), Err: windows.ERROR_DIRECTORY}
	}
	return folderID{
		dev: uint64(info.VolumeSerialNumber),
		ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}, nil
}

func keyOf(info fs.FileInfo) fileKey {
	mtime := info.ModTime().UnixNano()
	return fileKey{size: info.Size(), mtime: mtime, ctime: mtime}
}
