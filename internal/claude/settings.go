package claude

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// policyKey is the setting that says what a session does with messages from other sessions.
const policyKey = "crossSessionInbound"

// DefaultPolicy is the policy of settings that say none: what a session does depends on its permission mode then.
const DefaultPolicy = "default"

// Policies are the policies that can be set, [DefaultPolicy] among them.
var Policies = []string{"accept", "hold", "refuse", DefaultPolicy}

// NoRevision is the revision of settings that are not there.
const NoRevision = "none"

// Effective is what can be said of the policy that is in force.
const Effective = "unknown: managed settings and those of a repository may say otherwise, a session takes up a change after some seconds, " +
	"and without a policy its permission mode decides"

// Policy is what the user's own settings say.
type Policy struct {
	Value     string `json:"value"`    // one of [Policies], or a word that is not known here
	Revision  string `json:"revision"` // changes whenever anything in the file does
	Path      string `json:"path"`
	Effective string `json:"effective"` // always [Effective]
}

// Why settings are neither read nor changed, and why a change did not come about.
var (
	ErrNotSettings = errors.New("the settings are left alone")
	ErrRevision    = errors.New("the settings are at another revision")
	ErrRival       = errors.New("somebody else has changed the settings")
)

// Settings are the user's own settings in one Claude home.
type Settings struct {
	home string

	settle time.Duration // how long after a change the file is read again
	// replacing, if set, is called between reading the file and replacing it.
	replacing func()
}

// settleIn is how long after a change the settings are read again. A client that had them in memory when they changed
// and saves them writes the old ones back; of those that were about to, this sees the result.
const settleIn = 100 * time.Millisecond

// NewSettings are the settings in a home; the file need not be there.
func NewSettings(home string) *Settings { return &Settings{home: home, settle: settleIn} }

func (s *Settings) path() string { return filepath.Join(s.home, "settings.json") }

// Policy reads the policy. The error wraps [ErrNotSettings] where the file is not one that we would change.
func (s *Settings) Policy(ctx context.Context) (Policy, error) {
	f, err := s.load(ctx)
	if err != nil {
		return Policy{}, err
	}
	return f.policy(s.path())
}

// Set changes the policy, and no other byte of the file, and reads it again a little later. With a revision it does so
// only at that one, else the error is [ErrRevision]. It is [ErrRival] where somebody else wrote meanwhile, whose edit is
// left in place or, where two rivals wrote over each other, kept in a file that the error names; and where the policy is
// another one when it is read again. It wraps [ErrNotSettings] where the file is left alone.
func (s *Settings) Set(ctx context.Context, policy, revision string) (Policy, error) {
	if !slices.Contains(Policies, policy) {
		return Policy{}, fmt.Errorf("there is no policy %q", policy)
	}
	f, err := s.load(ctx)
	if err != nil {
		return Policy{}, err
	}
	if revision != "" && revision != f.revision() {
		return Policy{}, fmt.Errorf("%w: %s", ErrRevision, f.revision())
	}
	data, err := f.with(policy)
	if err == nil && len(data) > maxSettings {
		err = errSettingsTooBig
	}
	if err != nil {
		return Policy{}, fmt.Errorf("%w: %s: %w", ErrNotSettings, s.path(), err)
	}
	if string(data) == string(f.data) {
		return f.policy(s.path())
	}
	made, err := s.replace(f, data)
	if err != nil {
		return Policy{}, fmt.Errorf("change %s: %w", s.path(), err)
	}
	select {
	case <-time.After(s.settle):
	case <-ctx.Done(): // it is changed; only whether it lasts is not looked at
	}
	if err := made.finish(); err != nil {
		return Policy{}, fmt.Errorf("change %s: %w", s.path(), err)
	}
	if ctx.Err() != nil {
		return Policy{}, context.Cause(ctx)
	}
	p, err := s.Policy(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("the policy was set to %q; read it again: %w", policy, err)
	case p.Value != policy:
		err = fmt.Errorf("%w: the policy was set to %q and is %q again", ErrRival, policy, p.Value)
	}
	return p, err
}

// settingsFile is the file as it was read.
type settingsFile struct {
	image
	doc document
}

// load reads the file. A torn one is read again: the client writes it in place.
func (s *Settings) load(ctx context.Context) (f settingsFile, err error) {
	for try := 0; ; try++ {
		f, err = readSettings(s.path())
		if !errors.Is(err, errNoJSON) || try == len(tornRetries) {
			break
		}
		select {
		case <-time.After(tornRetries[try]):
		case <-ctx.Done():
			return settingsFile{}, context.Cause(ctx)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return settingsFile{}, s.checkHome()
	}
	if err != nil {
		return settingsFile{}, fmt.Errorf("%w: %s %w", ErrNotSettings, s.path(), err)
	}
	return f, nil
}

// checkHome fails where there is no home in which settings could be.
func (s *Settings) checkHome() error {
	info, err := os.Stat(s.home)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", s.home)
	}
	if err != nil {
		return fmt.Errorf("%w: there is no Claude home: %w", ErrNotSettings, err)
	}
	return nil
}

func (f settingsFile) revision() string {
	if f.info == nil {
		return NoRevision
	}
	sum := sha256.Sum256(f.data)
	return hex.EncodeToString(sum[:16])
}

func (f settingsFile) policy(path string) (Policy, error) {
	p := Policy{Value: DefaultPolicy, Revision: f.revision(), Path: path, Effective: Effective}
	if raw, there := f.doc.value(); there {
		value, ok := "", raw[0] == '"'
		if ok {
			value, ok = unquote(raw)
		}
		if !ok {
			return Policy{}, fmt.Errorf("%s: %s is there and is no text", path, policyKey)
		}
		p.Value = value
	}
	return p, nil
}

// with is the file's content with that policy.
func (f settingsFile) with(policy string) ([]byte, error) {
	switch {
	case f.info == nil && policy == DefaultPolicy:
		return nil, nil
	case f.info == nil:
		return []byte("{\n  \"" + policyKey + "\": \"" + policy + "\"\n}\n"), nil
	case policy == DefaultPolicy:
		return f.doc.without()
	}
	return f.doc.with(`"` + policy + `"`)
}
