package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"peerbus/events"
	"peerbus/internal/state"
)

// The errors of [Start] that callers tell apart, and that of [Server.Failed].
var (
	ErrPortTaken = errors.New("the bus cannot listen on its port")
	ErrListen    = errors.New("the bus listens on 127.0.0.1:PORT only, which its certificate names")
)

// loopback is the one address that is listened on.
const loopback = "127.0.0.1"

// readyWithin bounds what takes a few milliseconds, for a machine that is busy.
const readyWithin = 5 * time.Second

// anyPort has the server take a free one.
const anyPort = -1

// Options are what a server is started with.
type Options struct {
	State  *state.Dir // claimed
	Listen string     // "127.0.0.1:PORT"; "" is the port of the last start, or a free one
	Log    *slog.Logger
}

// Start starts a server and returns when it is ready, has written server.json and kept its port; ctx bounds the start
// only. A port that was asked for by [Options.Listen] and cannot be had is [ErrPortTaken]; the kept one is replaced by
// a free one, with a warning. [ErrDiskFull] is a disk without the space to start. After an error nothing runs.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := start(ctx, o)
	if err != nil && !errors.Is(err, ErrDiskFull) && saysFull(err.Error()) {
		err = fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	if err != nil {
		return nil, fmt.Errorf("start the bus on %s: %w", o.State.Path(), err)
	}
	return s, nil
}

func start(ctx context.Context, o Options) (*Server, error) {
	port, asked, err := choosePort(o)
	if err != nil {
		return nil, err
	}
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = s.run(port)
	if errors.Is(err, ErrPortTaken) && !asked {
		o.Log.WarnContext(ctx, "the kept port is taken, taking another", "port", port, "err", err)
		err = s.run(anyPort)
	}
	if err != nil {
		return nil, err
	}
	if err := s.announce(); err != nil {
		s.Shutdown()
		return nil, err
	}
	return s, nil
}

// choosePort tells which port to listen on, and whether it was asked for by hand.
func choosePort(o Options) (port int, asked bool, err error) {
	if o.Listen == "" {
		port, err = o.State.Port()
		if port == 0 {
			port = anyPort
		}
		return port, false, err
	}
	port, err = askedPort(o.Listen)
	return port, true, err
}

// CheckListen is nil for what [Options.Listen] can be, else [ErrListen].
func CheckListen(listen string) error {
	if listen == "" {
		return nil
	}
	_, err := askedPort(listen)
	return err
}

func askedPort(listen string) (int, error) {
	host, service, err := net.SplitHostPort(listen)
	if err != nil || host != loopback {
		return 0, fmt.Errorf("%w, not on %q", ErrListen, listen)
	}
	n, err := strconv.ParseUint(service, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w, not on %q", ErrListen, listen)
	}
	return int(n), nil
}

// prepare makes the keys, the certificate and the folder of the streams.
func prepare(o Options) (*Server, error) {
	cert, ca, err := o.State.Certificate()
	if err != nil {
		return nil, err
	}
	s := &Server{
		dir: o.State, log: o.Log, ca: ca,
		tls:  &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13},
		keys: map[string]nkeys.KeyPair{}, users: map[string]string{},
	}
	for _, role := range []string{Watcher, Responder, system} {
		if s.keys[role], err = nkeys.CreateUser(); err != nil {
			return nil, fmt.Errorf("make key of %s: %w", role, err)
		}
		if s.users[role], err = s.keys[role].PublicKey(); err != nil {
			return nil, fmt.Errorf("make key of %s: %w", role, err)
		}
	}
	for _, role := range []string{state.Observer, state.Mailer, state.Operator} {
		if s.users[role], err = o.State.EnsureKey(role); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(s.storage(), 0o700); err != nil { // the server would let the group read it
		return nil, fmt.Errorf("make the folder of the streams: %w", err)
	}
	return s, nil
}

// storage is the folder of the streams.
func (s *Server) storage() string { return filepath.Join(s.dir.Path(), "js") }

// run starts a server on port and returns when it is ready or has failed.
func (s *Server) run(port int) error {
	o, err := s.options(port)
	if err != nil {
		return err
	}
	ns, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	j := newJournal(s.log)
	ns.SetLoggerV2(j, false, false, false)
	ns.Start() // returns when it listens, or has called Fatalf
	if err := j.fatalError(); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return err
	}
	if !ns.ReadyForConnections(readyWithin) {
		ns.Shutdown()
		ns.WaitForShutdown()
		return fmt.Errorf("the server is not ready after %v", readyWithin)
	}
	s.ns, s.journal, s.started, s.port = ns, j, port, ns.Addr().(*net.TCPAddr).Port
	return nil
}

// announce says where the server is.
func (s *Server) announce() error {
	if kept, err := s.dir.Port(); err != nil || kept != s.port {
		if err := s.dir.KeepPort(s.port); err != nil {
			return err
		}
	}
	return s.dir.WriteServer(state.Server{
		URL: s.URL(), PID: os.Getpid(), Start: s.dir.Start(), CA: s.ca, Host: s.dir.Host(),
		Started: events.At(time.Now()), Version: server.VERSION,
	})
}
