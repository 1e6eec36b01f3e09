package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Connect connects a role to the server within this process: [Watcher], [Responder], or one that has a key in the
// state folder. Replies come to "_INBOX.<role>". The connection is closed by [Server.Shutdown] at the latest. It
// connects again for ever when it is cut, and does not buffer what is published meanwhile.
func (s *Server) Connect(role string, opts ...nats.Option) (*nats.Conn, error) {
	pair, err := s.keyOf(role)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", role, err)
	}
	own := []nats.Option{
		nats.InProcessServer(s.ns),
		nats.Nkey(public, pair.Sign),
		nats.CustomInboxPrefix("_INBOX." + role),
		nats.Name("peerbus " + role),
		nats.ReconnectBufSize(-1),
		nats.MaxReconnects(-1),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, fmt.Errorf("connect as %s: %w", role, server.ErrServerNotRunning)
	}
	nc, err := nats.Connect("", append(own, opts...)...) // with a URL it would ask for TLS on the pipe
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", role, err)
	}
	s.conns = append(s.conns, nc)
	return nc, nil
}

func (s *Server) keyOf(role string) (nkeys.KeyPair, error) {
	if pair, ok := s.keys[role]; ok {
		return pair, nil
	}
	return s.dir.KeyPair(role)
}
