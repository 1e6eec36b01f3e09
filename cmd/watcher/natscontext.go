package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"

	"peerbus/internal/screen"
	"peerbus/internal/state"
)

type natsContextCmd struct {
	Operator bool `help:"Write peerbus-operator as well, which may do everything on the bus."`
}

// natsContext is a context of the nats program, by the keys that it has in its file. Keys that are not here it has
// for what we do not use.
type natsContext struct {
	Description string `json:"description"`
	URL         string `json:"url"`
	NKey        string `json:"nkey"` // path of the seed
	CA          string `json:"ca"`   // path of the certificate that the server must show
	InboxPrefix string `json:"inbox_prefix"`
	APIPrefix   string `json:"jetstream_api_prefix,omitzero"`
}

// contextFile is a context and where it goes.
type contextFile struct {
	Name string `json:"context"`
	Path string `json:"path"`
	data []byte
	old  bool // there is one, and it is ours
}

// run writes contexts for the bus of the running watcher. It writes all of them or, where one of that name is somebody
// else's, none.
func (c *natsContextCmd) run(_ context.Context, e env) error {
	if e.NATS != "" {
		return &exitError{exitUsage, errors.New("nats-context is about the watcher's bus; --nats is for the commands that ask another")}
	}
	files, err := c.files(e)
	if err != nil {
		return err
	}
	for i := range files {
		if err := files[i].check(); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			return fmt.Errorf("write nats context %s: %w", f.Name, err)
		}
		if err := e.printContext(f); err != nil {
			return err
		}
	}
	return nil
}

// files are the contexts as they should be.
func (c *natsContextCmd) files(e env) ([]contextFile, error) {
	path, err := e.stateFolder()
	if err != nil {
		return nil, err
	}
	dir, err := state.Open(path)
	if err != nil {
		return nil, &exitError{exitNoAnswer, err}
	}
	defer dir.Close()
	server, err := dir.Server()
	if err != nil {
		return nil, &exitError{exitNoAnswer, fmt.Errorf("%w; start one by: watcher run", err)}
	}
	folder, err := natsContexts()
	if err != nil {
		return nil, err
	}
	roles := []struct{ name, role, api string }{
		// The accounts of these have the JetStream API under this prefix, and of it direct gets only.
		{"peerbus-observer", state.Observer, "core"},
		{"peerbus-local", state.SenderRole(state.LocalSender), "core"},
		{"peerbus-operator", state.Operator, ""},
	}
	if !c.Operator {
		roles = roles[:2]
	}
	var files []contextFile
	for _, r := range roles {
		f, err := newContextFile(folder, r.name, natsContext{
			Description: "peerbus on " + server.Host + ", as " + r.role, URL: server.URL, NKey: dir.KeyPath(r.role), CA: server.CA,
			InboxPrefix: nats.InboxPrefix + r.role, APIPrefix: r.api,
		})
		if err != nil {
			return nil, fmt.Errorf("write nats context %s: %w", r.name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// natsContexts is the folder in which the nats program looks for its contexts, on every platform.
func natsContexts() (string, error) {
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		config = filepath.Join(user, ".config")
	}
	return filepath.Join(config, "nats", "context"), nil
}

func newContextFile(folder, name string, c natsContext) (contextFile, error) {
	for _, path := range []string{c.NKey, c.CA} {
		if strings.Contains(path, "$") {
			return contextFile{}, fmt.Errorf("nats would take the $ in %s for a variable", path)
		}
		if _, err := os.Stat(path); err != nil {
			return contextFile{}, err
		}
	}
	data, err := json.MarshalIndent(c, "", "  ")
	return contextFile{Name: name, Path: filepath.Join(folder, name+".json"), data: append(data, '\n')}, err
}

// check fails where there is a context of that name that is not ours.
func (f *contextFile) check() error {
	info, err := os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var data []byte
	if err == nil && info.Mode().IsRegular() {
		data, err = os.ReadFile(f.Path)
	}
	if err != nil {
		return fmt.Errorf("read nats context %s: %w", f.Name, err)
	}
	if !f.ours(data) {
		return fmt.Errorf("there is a nats context %s that is another's, and it is left alone: %s", f.Name, f.Path)
	}
	f.old = true
	return nil
}

// ours tells whether the context that is there uses the same key and has nothing in it that we would not have written;
// the nats program itself writes all the keys it knows, with empty values.
func (f *contextFile) ours(there []byte) bool {
	var now natsContext
	var keys, known map[string]json.RawMessage
	if json.Unmarshal(there, &now) != nil || json.Unmarshal(there, &keys) != nil || json.Unmarshal(f.data, &known) != nil {
		return false
	}
	for key, value := range keys {
		_, isOurs := known[key]
		empty := bytes.Equal(value, []byte(`""`)) || bytes.Equal(value, []byte("false")) || bytes.Equal(value, []byte("null"))
		if !isOurs && !empty {
			return false
		}
	}
	var want natsContext
	return json.Unmarshal(f.data, &want) == nil && now.NKey == want.NKey && now.InboxPrefix == want.InboxPrefix && now.APIPrefix == want.APIPrefix
}

// write puts the file into its place, whole.
func (f *contextFile) write() error {
	folder := filepath.Dir(f.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, ".peerbus-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // which is not there after a renaming
	_, err = temp.Write(f.data)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if f.old {
		return os.Rename(temp.Name(), f.Path)
	}
	return os.Link(temp.Name(), f.Path) // unlike a renaming it replaces nothing
}

func (e env) printContext(f contextFile) error {
	if e.JSON {
		return e.printJSON(plain[contextFile]{f})
	}
	_, err := fmt.Fprintf(e.out, "%-17s %s\n", f.Name, e.out.Paint(screen.Faint, screen.Clean(f.Path)))
	return err
}
