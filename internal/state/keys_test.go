package state

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysAreMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	mustClaim(t, path, Claiming{})
	for _, role := range []string{Observer, SenderRole("bob")} {
		got := make([]string, 8)
		var wg sync.WaitGroup
		for i := range got {
			d, err := Open(path) // as another process would
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				public, err := d.EnsureKey(role)
				if err != nil {
					t.Error(err)
				}
				got[i] = public
			})
		}
		wg.Wait()
		if len(slices.Compact(got)) != 1 || !strings.HasPrefix(got[0], "U") {
			t.Errorf("keys of %s made at once: %v", role, got)
		}
	}
}

func TestSenders(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	for _, name := range []string{"bob", "a-b", "0", "-", "true", strings.Repeat("x", 32)} {
		if _, err := d.EnsureKey(SenderRole(name)); err != nil {
			t.Errorf("sender %s: %v", name, err)
		}
	}
	for _, name := range []string{"", "Bob", "a.b", "../bob", "a b", "*", "ä", "a\n", strings.Repeat("x", 33)} {
		if _, err := d.EnsureKey(SenderRole(name)); !errors.Is(err, ErrSender) {
			t.Errorf("sender %q: %v", name, err)
		}
	}
	for _, role := range []string{"", "watcher", "sys", "../x"} {
		if public, err := d.EnsureKey(role); err == nil {
			t.Errorf("role %q has key %s", role, public)
		}
	}
	if _, err := d.EnsureKey(Mailer); err != nil {
		t.Fatal(err)
	}
	write(t, d.KeyPath("s-NO"), "")
	write(t, d.KeyPath("s-bob")+".old", "")
	if err := d.RemoveKey(SenderRole("a-b")); err != nil {
		t.Fatal(err)
	}
	names, err := d.Senders()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"-", "0", "bob", "local", "true", strings.Repeat("x", 32)}, names); d != "" {
		t.Errorf("senders (-want +got):\n%s", d)
	}
	if _, err := d.PublicKey(SenderRole("a-b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the removed key: %v", err)
	}
	if err := d.RemoveKey(SenderRole("a-b")); err != nil {
		t.Errorf("removed again: %v", err)
	}
}

func TestDamagedKey(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	write(t, d.KeyPath(Observer), "half a see")
	_, err := d.EnsureKey(Observer)
	if err == nil {
		t.Fatal("a damaged key was replaced or accepted")
	}
	oneLine(t, err, d.KeyPath(Observer))
	if strings.Contains(err.Error(), "half") {
		t.Errorf("the error shows the seed: %v", err)
	}
}

func TestNobodyElseMayRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits; the profile folder's access list is inherited")
	}
	path := filepath.Join(t.TempDir(), "state")
	d := mustClaim(t, path, Claiming{})
	fill(t, d)
	for name, f := range tree(t, path) {
		want := fs.FileMode(0o600)
		if f.Mode.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if f.Mode != want {
			t.Errorf("%s has mode %v, want %v", name, f.Mode, want)
		}
	}
}
