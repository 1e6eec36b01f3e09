package state

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestHostIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	again := func(asked, host, previous string) *Dir {
		t.Helper()
		d := mustClaim(t, path, Claiming{Host: asked})
		if d.Host() != host || d.PreviousHost() != previous {
			t.Errorf("asked for %q: host %q, previously %q; want %q, %q", asked, d.Host(), d.PreviousHost(), host, previous)
		}
		return d
	}
	again("a", "a", "").Close()
	again("", "a", "").Close()
	again("b", "b", "a").Close() // ended before the change was said
	again("b", "b", "a").Close()
	again("", "a", "").Close()
	d := again("b", "b", "a")
	if err := d.SettleHost(); err != nil {
		t.Fatal(err)
	}
	if d.PreviousHost() != "" || d.Host() != "b" {
		t.Errorf("settled: %q, previously %q", d.Host(), d.PreviousHost())
	}
	d.Close()
	again("", "b", "").Close()
	opened, err := Open(path)
	if err != nil || opened.Host() != "b" {
		t.Errorf("opened: %v, %v", opened, err)
	}
}

func TestHostNames(t *testing.T) {
	for name, legal := range map[string]bool{
		"laptop": true, "Anna's Mac.local": true, "ä*>.=": true, strings.Repeat("x", 253): true,
		"a\nb": false, "\x1b[31m": false, "\xff": false, strings.Repeat("x", 254): false,
	} {
		path := filepath.Join(t.TempDir(), "state")
		d, err := claim(path, Claiming{Host: name}, here)
		if legal != (err == nil) {
			t.Errorf("host %q: %v", name, err)
		}
		if err != nil {
			oneLine(t, err, "host")
			continue
		}
		d.Close()
		if d := mustClaim(t, path, Claiming{}); d.Host() != name {
			t.Errorf("host %q became %q", name, d.Host())
		}
	}
}
