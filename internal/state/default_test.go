package state

import (
	"path/filepath"
	"testing"
)

func TestDefault(t *testing.T) {
	for name, tc := range map[string]struct {
		goos string
		env  map[string]string
		want string // with slashes; "" is an error
	}{
		"named":             {"linux", map[string]string{"PEERBUS_STATE": "/x", "HOME": "/h", "XDG_STATE_HOME": "/s"}, "/x"},
		"named, macOS":      {"darwin", map[string]string{"PEERBUS_STATE": "/x", "HOME": "/h"}, "/x"},
		"named, Windows":    {"windows", map[string]string{"PEERBUS_STATE": "/x", "LocalAppData": "/l"}, "/x"},
		"XDG":               {"linux", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/peerbus"},
		"relative XDG":      {"linux", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "s"}, "/h/.local/state/peerbus"},
		"home":              {"linux", map[string]string{"HOME": "/h"}, "/h/.local/state/peerbus"},
		"macOS":             {"darwin", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/h/Library/Application Support/peerbus"},
		"Windows":           {"windows", map[string]string{"LocalAppData": "/l", "HOME": "/h"}, "/l/peerbus"},
		"nothing":           {"linux", nil, ""},
		"nothing, macOS":    {"darwin", nil, ""},
		"nothing, Windows":  {"windows", map[string]string{"HOME": "/h"}, ""},
		"only relative XDG": {"linux", map[string]string{"XDG_STATE_HOME": "s"}, ""},
	} {
		got, err := defaultPath(tc.goos, func(name string) string { return tc.env[name] })
		if filepath.ToSlash(got) != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
		}
	}
}
