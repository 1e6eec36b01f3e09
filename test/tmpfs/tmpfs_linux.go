// Package tmpfs gives a test a small file system of its own, which it can fill and make read-only. It is in a mount
// namespace of the test alone: nothing of it is left behind, however the test ends.
package tmpfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set in the process that has the namespace, to the name of its test.
const inside = "PEERBUS_TEST_TMPFS"

// Run runs body with the root of an empty file system of that size in bytes, in a second process of the test binary,
// which runs this one test. It skips the test where the kernel lets this user make no mounts. The test must not be
// a subtest, and does nothing but call Run.
func Run(t *testing.T, size int64, body func(t *testing.T, root string)) {
	if os.Getenv(inside) == t.Name() {
		body(t, mount(t, size))
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = namespace()
	out, err := cmd.CombinedOutput()
	for _, denied := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.ENOSPC, syscall.EINVAL} {
		if errors.Is(err, denied) {
			t.Skipf("no mount namespace for this user: %v", err)
		}
	}
	switch {
	case err != nil:
		t.Errorf("in a file system of its own: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("the test did not run in a file system of its own:\n%s", out)
	}
}

// namespace needs CAP_SYS_ADMIN, which any user has in a user namespace of his own, where there are such.
func namespace() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return a
}

func mount(t *testing.T, size int64) string {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("no mounts of its own: %v", err)
	}
	root := t.TempDir()
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("no tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return root
}

// ReadOnly makes the file system read-only, or writable again. It fails the test while a file is open for writing.
func ReadOnly(t *testing.T, root string, on bool) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if on {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("", root, "", flags, ""); err != nil {
		t.Fatalf("remount: %v", err)
	}
}

// Fill takes all space that is left, until the returned function gives it back.
func Fill(t *testing.T, root string) (free func()) {
	t.Helper()
	path := filepath.Join(root, "ballast")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096) // what a tmpfs gives out at a time
	for err == nil {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the file system: %v", err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Errorf("give the space back: %v", err)
		}
	}
}
