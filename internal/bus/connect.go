package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"

	"peerbus/internal/state"
)

// ErrNoWatcher says that no bus is where one should be: the state folder is not there or names none, or nobody
// listens.
var ErrNoWatcher = errors.New("no watcher is running")

const (
	// watcherRole is the role of the watcher's own connection, which has its key in memory only.
	watcherRole = "watcher"

	// reconnectWait is the pause between two tries to connect again. The bus is on this machine and starts in 23 ms.
	reconnectWait = 200 * time.Millisecond

	// connectIn is how long connecting may take. It takes 2 ms.
	connectIn = 2 * time.Second
)

// Target says which bus to connect to, and as whom.
type Target struct {
	// State is the state folder of a watcher, whose bus is meant where URL is "".
	State string

	URL   string // of a bus of one's own
	Creds string // a file with a user's credentials for it
	NKey  string // a file with a seed for it
	CA    string // a file with the certificates that it may show; "" is those of the operating system

	// Role is whose key of the state folder to use, and where answers come to: state.Observer and so on. At a bus of
	// one's own it is as whom its permissions take the key.
	Role string

	Log *slog.Logger
}

// Connect connects to a bus, which takes 2 s at the most. The error is [ErrNoWatcher] where there is none. The connection
// is kept up for ever: it connects again where the state folder then says that the bus is, and publishes nothing
// late. What the role may not do is logged; a question that it may not ask is met by silence. The caller closes it.
func (t Target) Connect() (*nats.Conn, error) {
	where, opts, err := t.find()
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	nc, err := nats.Connect(where, append(opts, t.common()...)...)
	if errors.Is(err, nats.ErrNoServers) {
		err = fmt.Errorf("%w: nobody listens on %s", ErrNoWatcher, where)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the bus as %s: %w", t.Role, err)
	}
	return nc, nil
}

func (t Target) common() []nats.Option {
	return []nats.Option{
		nats.Name("peerbus " + t.Role),
		nats.CustomInboxPrefix(nats.InboxPrefix + t.Role),
		nats.Timeout(connectIn),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			t.Log.Warn("the bus objects", "role", t.Role, "subscription", subject, "err", err)
		}),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if err != nil { // it is nil when we close
				t.Log.Warn("the bus is away, waiting for it", "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { t.Log.Warn("the bus is back") }),
	}
}

// find is where the bus is, and how to be let in.
func (t Target) find() (where string, opts []nats.Option, err error) {
	if t.URL == "" {
		return t.findWatcher()
	}
	if t.Creds != "" {
		opts = append(opts, nats.UserCredentials(t.Creds))
	}
	if t.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(t.NKey)
		if err != nil {
			return "", nil, fmt.Errorf("read %s: %w", t.NKey, err)
		}
		opts = append(opts, key)
	}
	if t.CA != "" {
		opts = append(opts, nats.RootCAs(t.CA))
	}
	return t.URL, opts, nil
}

func (t Target) findWatcher() (where string, opts []nats.Option, err error) {
	dir, err := state.Open(t.State)
	if errors.Is(err, state.ErrNone) {
		return "", nil, fmt.Errorf("%w: %w", ErrNoWatcher, err)
	}
	if err != nil {
		return "", nil, err
	}
	server, err := dir.Server()
	if errors.Is(err, state.ErrNotRunning) {
		return "", nil, fmt.Errorf("%w: %w", ErrNoWatcher, err)
	}
	if err != nil {
		return "", nil, err
	}
	key, err := nats.NkeyOptionFromSeed(dir.KeyPath(t.Role))
	if err != nil {
		return "", nil, fmt.Errorf("read the key of %s: %w", t.Role, err)
	}
	return server.URL, []nats.Option{
		key, nats.RootCAs(server.CA), nats.SetCustomDialer(dialer{dir}), nats.IgnoreDiscoveredServers(),
	}, nil
}

// dialer connects to where the state folder says that the bus is now, whatever it is told: a watcher that was started
// anew may have another port.
type dialer struct{ dir *state.Dir }

func (d dialer) Dial(network, _ string) (net.Conn, error) {
	server, err := d.dir.Server()
	if err != nil {
		return nil, err
	}
	where, err := url.Parse(server.URL)
	if err != nil {
		return nil, fmt.Errorf("find the bus: %w", err)
	}
	conn, err := net.DialTimeout(network, where.Host, connectIn)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoWatcher, err)
	}
	return conn, nil
}
