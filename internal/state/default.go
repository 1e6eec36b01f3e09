package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Default is where the state folder is unless somebody names another: $PEERBUS_STATE, else the platform's place for
// a program's state. The error says that the environment names no home.
func Default() (string, error) {
	return defaultPath(runtime.GOOS, os.Getenv)
}

func defaultPath(goos string, env func(string) string) (string, error) {
	if named := env("PEERBUS_STATE"); named != "" {
		return named, nil
	}
	switch goos {
	case "windows":
		if base := env("LocalAppData"); base != "" {
			return filepath.Join(base, "peerbus"), nil
		}
		return "", errors.New("find the state folder: neither PEERBUS_STATE nor LocalAppData is set")
	case "darwin":
		if home := env("HOME"); home != "" {
			return filepath.Join(home, "Library", "Application Support", "peerbus"), nil
		}
	default:
		// The XDG specification has relative paths ignored.
		if base := env("XDG_STATE_HOME"); filepath.IsAbs(base) {
			return filepath.Join(base, "peerbus"), nil
		}
		if home := env("HOME"); home != "" {
			return filepath.Join(home, ".local", "state", "peerbus"), nil
		}
	}
	return "", fmt.Errorf("find the state folder: neither PEERBUS_STATE nor HOME is set")
}
