package claude

import (
	"os"
	"syscall"
	"testing"
)

func TestPolicyKeepsModeAndGroup(t *testing.T) {
	o := newOffice(t, someSettings)
	group := os.Getgid()
	if os.Geteuid() == 0 {
		group = 12345 // who is not root may be in no second group
	}
	o.must(os.Chown(o.path(), -1, group))
	for _, mode := range []os.FileMode{0o600, 0o644, 0o640, 0o400} {
		o.must(os.Chmod(o.path(), mode))
		o.set("accept")
		o.set("refuse")
		info, err := os.Stat(o.path())
		o.must(err)
		if st := info.Sys().(*syscall.Stat_t); info.Mode() != mode || int(st.Gid) != group {
			t.Errorf("mode %v, group %d, want %v and %d", info.Mode(), st.Gid, mode, group)
		}
	}
	o.tidy()
}

func TestPolicyMakesAPrivateFile(t *testing.T) {
	o := newOffice(t, "")
	o.set("accept")
	if info, err := os.Stat(o.path()); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestPolicyLeavesAloneWhatIsAnothers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	o := newOffice(t, someSettings)
	o.must(os.Chown(o.path(), 65534, -1))
	_, err := o.Set(t.Context(), "accept", "")
	wantLeftAlone(t, err, "belongs to another user")
	if o.text() != someSettings {
		t.Errorf("settings %s", o.text())
	}
}
