package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHost is the length in bytes that a host name may have in the DNS.
const maxHost = 253

func readHost(path string) (string, error) {
	data, err := os.ReadFile(filepath.Join(path, hostFile))
	if err != nil {
		return "", fmt.Errorf("read the host's name: %w", err)
	}
	host := strings.TrimSuffix(string(data), "\n")
	if err := CheckHost(host); err != nil {
		return "", fmt.Errorf("read the host's name from %s: %w", path, err)
	}
	return host, nil
}

// CheckHost is nil for what can be the name of a host.
func CheckHost(host string) error {
	if host == "" || len(host) > maxHost || !utf8.ValidString(host) || strings.ContainsFunc(host, unicode.IsControl) {
		return errors.New("a host name is 1 to 253 bytes of text without control characters")
	}
	return nil
}

// SettleHost makes the new name the kept one. Until then the folder keeps the previous one, so that a watcher that
// ends before it has said under the previous name that the host goes on under another says it at its next start.
func (d *Dir) SettleHost() error {
	if d.previous == "" {
		return nil
	}
	if err := replace(d.file(hostFile), []byte(d.host+"\n")); err != nil {
		return err
	}
	d.previous = ""
	return nil
}
