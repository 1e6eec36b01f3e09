package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// savedByNats is a context of ours as the nats program saves it.
const savedByNats = `{
  "description": "my bus",
  "url": "tls://127.0.0.1:1",
  "socks_proxy": "",
  "token": "",
  "user": "",
  "password": "",
  "creds": "",
  "nkey": "KEY",
  "cert": "",
  "key": "",
  "ca": "CA",
  "nsc": "",
  "jetstream_domain": "",
  "jetstream_api_prefix": "core",
  "jetstream_event_prefix": "",
  "inbox_prefix": "_INBOX.observer",
  "user_jwt": "",
  "user_seed": "",
  "color_scheme": "",
  "tls_first": false,
  "windows_cert_store": "",
  "windows_cert_match_by": "",
  "windows_cert_match": "",
  "windows_ca_certs_match": null
}`

func TestNatsContextIsOurs(t *testing.T) {
	dir := t.TempDir()
	key, ca := filepath.Join(dir, "observer.nk"), filepath.Join(dir, "ca.pem")
	for _, path := range []string{key, ca} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := newContextFile(filepath.Join(dir, "nats", "context"), "peerbus-observer", natsContext{
		Description: "peerbus on laptop, as observer", URL: "tls://127.0.0.1:2", NKey: key, CA: ca, InboxPrefix: "_INBOX.observer", APIPrefix: "core",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{f.Path: 0o600, filepath.Dir(f.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if err := f.check(); err != nil || !f.old {
		t.Errorf("what we have written: %v", err)
	}
	ours := replaced(savedByNats, "KEY", key, "CA", ca)
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"as nats saves it":      {ours, true},
		"another key":           {replaced(ours, key, "/home/u/me.nk"), false},
		"a user as well":        {replaced(ours, `"user": ""`, `"user": "me"`), false},
		"tls first":             {replaced(ours, `"tls_first": false`, `"tls_first": true`), false},
		"something of tomorrow": {replaced(ours, `"nsc": ""`, `"region": "eu"`), false},
		"another inbox":         {replaced(ours, "_INBOX.observer", "_INBOX.me"), false},
		"no JSON":               {"url: nats://127.0.0.1", false},
		"nothing":               {"", false},
	} {
		if got := f.ours([]byte(tc.text)); got != tc.want {
			t.Errorf("%s: ours %t", name, got)
		}
	}
	if _, err := newContextFile(dir, "peerbus-observer", natsContext{NKey: "/home/$u/observer.nk", CA: ca}); err == nil {
		t.Error("a path that nats would take for a variable was taken")
	}
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}
