package embedded

import (
	"crypto/tls"
	"log/slog"
	"net"
	"strconv"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"peerbus/internal/state"
)

// The roles within this process. Their keys are made at each start and are kept in memory alone: the server takes
// them from connections inside the process only, so a file of them could serve nobody but a thief.
const (
	Watcher   = "watcher"   // everything in CORE
	Responder = "responder" // answers questions and can publish nothing but answers
	system    = "sys"       // nobody connects as it; the server needs an account for itself
)

// Server is a NATS server in this process.
type Server struct {
	dir *state.Dir
	log *slog.Logger
	ca  string
	tls *tls.Config
	// keys are the roles that live in memory, users the public keys of all but senders.
	keys  map[string]nkeys.KeyPair
	users map[string]string

	ns      *server.Server
	journal *journal
	started int // the port as the server was told it; a reload may not change it
	port    int

	mu    sync.Mutex // guards what follows; one reload at a time
	conns []*nats.Conn
	ended bool
}

// URL is where clients connect: "tls://127.0.0.1:PORT".
func (s *Server) URL() string { return "tls://" + net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// CA is the path of the certificate that clients pin.
func (s *Server) CA() string { return s.ca }

// Failed delivers one error when the server can no longer store what it is sent: [ErrDiskFull], or a disk that does
// not take writes. It does not recover by itself: shut it down, and start another.
func (s *Server) Failed() <-chan error { return s.journal.failed }

// Shutdown closes the connections that were made by Connect, ends the server and takes server.json away. It returns
// when nothing of it runs any more, and may be called again.
func (s *Server) Shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	// First: who reads it from now on need not try.
	if err := s.dir.RemoveServer(); err != nil {
		s.log.Warn("server.json stays behind", "err", err)
	}
	for _, nc := range s.conns {
		nc.Close()
	}
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}
