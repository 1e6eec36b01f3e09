package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nats-io/nkeys"
)

const (
	keysFolder = "keys"
	keySuffix  = ".nk"
)

// The roles that have a key in the folder; senders have one each, see [SenderRole]. The watcher's own roles have none:
// they connect within its process only, so their keys are made anew at each start and never leave its memory.
const (
	Observer = "observer"
	Mailer   = "mailer"
	Operator = "operator"
)

// LocalSender is the sender that is made with the folder.
const LocalSender = "local"

const senderPrefix = "s-"

var (
	senderName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	// ErrSender is what an illegal name of a sender gets.
	ErrSender = errors.New("a sender's name is 1 to 32 of a to z, 0 to 9 and -")
)

// CheckSender is nil for a legal name of a sender, else [ErrSender].
func CheckSender(name string) error {
	if !senderName.MatchString(name) {
		return fmt.Errorf("%w: %.40q", ErrSender, name)
	}
	return nil
}

// SenderRole is the role of the sender with that name.
func SenderRole(name string) string { return senderPrefix + name }

// KeyPath is where the seed of a role's key is, whether it is there or not.
func (d *Dir) KeyPath(role string) string { return d.file(keysFolder, role+keySuffix) }

// EnsureKey is the public half of a role's key, which it makes where there is none. Any process of the user may call
// it: of several that make one at once, one does, and all answer its key.
func (d *Dir) EnsureKey(role string) (string, error) {
	public, err := d.PublicKey(role)
	if !errors.Is(err, fs.ErrNotExist) {
		return public, err
	}
	if err := os.MkdirAll(d.file(keysFolder), 0o700); err != nil {
		return "", fmt.Errorf("make key of %s: %w", role, err)
	}
	if err := d.makeKey(role); err != nil {
		return "", fmt.Errorf("make key of %s: %w", role, err)
	}
	return d.PublicKey(role)
}

// PublicKey is the public half of a role's key; fs.ErrNotExist where the role has none.
func (d *Dir) PublicKey(role string) (string, error) {
	pair, err := d.KeyPair(role)
	if err != nil {
		return "", err
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return "", fmt.Errorf("read key of %s: %w", role, err)
	}
	return public, nil
}

// KeyPair is a role's key; fs.ErrNotExist where the role has none.
func (d *Dir) KeyPair(role string) (nkeys.KeyPair, error) {
	if err := checkRole(role); err != nil {
		return nil, err
	}
	seed, err := os.ReadFile(d.KeyPath(role))
	if err != nil {
		return nil, fmt.Errorf("read key of %s: %w", role, err)
	}
	pair, err := nkeys.ParseDecoratedUserNKey(seed)
	if err != nil {
		return nil, fmt.Errorf("read key of %s from %s: %w", role, d.KeyPath(role), err)
	}
	return pair, nil
}

// RemoveKey takes a sender's key away; one that is not there is no error.
func (d *Dir) RemoveKey(role string) error {
	if err := checkRole(role); err != nil {
		return err
	}
	if err := os.Remove(d.KeyPath(role)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove key of %s: %w", role, err)
	}
	return syncDir(d.file(keysFolder))
}

// Senders are the names of the senders that have a key, sorted.
func (d *Dir) Senders() ([]string, error) {
	entries, err := os.ReadDir(d.file(keysFolder)) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list senders: %w", err)
	}
	var names []string
	for _, e := range entries {
		role, isKey := strings.CutSuffix(e.Name(), keySuffix)
		name, isSender := strings.CutPrefix(role, senderPrefix)
		if isKey && isSender && senderName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func checkRole(role string) error {
	switch role {
	case Observer, Mailer, Operator:
		return nil
	}
	name, ok := strings.CutPrefix(role, senderPrefix)
	if !ok {
		return fmt.Errorf("there is no role %.40q with a key", role)
	}
	return CheckSender(name)
}

// makeKey writes a new seed. It is linked into its place, which fails where a rival was faster: a key that somebody
// may already use is never replaced.
func (d *Dir) makeKey(role string) error {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	defer pair.Wipe()
	seed, err := pair.Seed()
	if err != nil {
		return err
	}
	temp, err := writeTemp(d.KeyPath(role), append(seed, '\n'))
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, d.KeyPath(role)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(temp))
}
