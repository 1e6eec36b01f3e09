package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"peerbus/internal/proc"
	"peerbus/occupancy"
)

// asNobody runs f with no more rights to files than their modes give, which root has not by itself.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the identity is the thread's, which ends with this goroutine
		if err := unix.Setfsuid(nobody); err != nil {
			done <- err
			return
		}
		f()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestOwnersWithoutTheRightToRead has a folder, and beside a live owner a record, that may not be read.
func TestOwnersWithoutTheRightToRead(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	o := owners{homes: []string{r.home}, domain: proc.Domain(), look: proc.Look}
	ask := func() (v occupancy.Verdict) {
		asNobody(t, func() {
			about, err := o.read(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			found := about(t.Context(), threadA)
			v = occupancy.Judge(occupancy.Question{Harness: "claude", Thread: threadA}, occupancy.Evidence{Found: found})
		})
		return v
	}
	open := func() { // as the folders of the test's own are not
		for dir := r.home; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			r.must(os.Chmod(dir, 0o755))
		}
	}
	open()
	r.write(r.record(p, threadA))
	r.must(os.Chmod(r.folder(), 0o755))
	if v := ask(); v.Reason != occupancy.LiveProcess {
		t.Fatalf("all may be read: %+v", v)
	}
	r.put("812.json", `{"pid":812,"sessionId":"`+threadB+`"}`)
	r.must(os.Chmod(filepath.Join(r.folder(), "812.json"), 0))
	if v := ask(); v.Reason != occupancy.LiveProcess || len(v.Doubts) != 1 || v.Doubts[0].Why != "permission denied" {
		t.Errorf("a record may not be read, beside a live owner: %+v", v)
	}
	p.end()
	if v := ask(); v.Reason != occupancy.RegistryUnreadable {
		t.Errorf("a record may not be read: %+v", v)
	}
	r.must(os.Chmod(r.folder(), 0))
	if v := ask(); v.Reason != occupancy.RegistryUnreadable || v.Doubts[0].About != "sessions" {
		t.Errorf("the folder may not be read: %+v", v)
	}
	r.must(os.Chmod(r.folder(), 0o700))
}

// TestOwnersFIFOAmongRecords has a look that must not wait for a writer.
func TestOwnersFIFOAmongRecords(t *testing.T) {
	r := newRegister(t)
	r.must(unix.Mkfifo(filepath.Join(r.folder(), "812.json"), 0o600))
	if v := r.wants(occupancy.RegistryUnreadable); v.Doubts[0].Why != errFIFO.Error() {
		t.Errorf("doubts %+v", v.Doubts)
	}
}

func TestOwnersProcessThatCannotBeAsked(t *testing.T) {
	r, p := newRegister(t), spawn(t)
	r.write(r.record(p, threadA))
	o := owners{homes: []string{r.home}, domain: proc.Domain(), look: func(int) proc.Sight {
		return proc.Sight{Start: proc.Unread, Err: unix.EMFILE}
	}}
	about, err := o.read(t.Context())
	r.must(err)
	f := about(t.Context(), threadA)
	if len(f.Owners) != 0 || len(f.Doubts) != 1 || f.Doubts[0].Reason != occupancy.ProbeFailed {
		t.Errorf("found %+v", f)
	}
}
