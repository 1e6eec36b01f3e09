package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"peerbus/events"
	"peerbus/internal/state"
)

const (
	maxPayload     = 1 << 20 // bytes: a page of a snapshot, or a mail with its headers, several times
	maxConn        = 256
	maxControlLine = 4096 // bytes: the longest legal subject and reply, several times
	tlsTimeout     = 2    // seconds
)

// options are fresh at each call: the server keeps and changes what it is given.
func (s *Server) options(port int) (*server.Options, error) {
	senders, err := s.dir.Senders()
	if err != nil {
		return nil, err
	}
	c := config{Host: events.Token(s.dir.Host()), Users: s.users}
	for _, name := range senders {
		user, err := s.dir.PublicKey(state.SenderRole(name))
		if err != nil { // taken away just now, or damaged: no reason to refuse all others
			s.log.Warn("sender left out", "sender", name, "err", err)
			continue
		}
		c.Senders = append(c.Senders, sender{Name: name, User: user})
	}
	text, err := c.render()
	if err != nil {
		return nil, err
	}
	o := &server.Options{}
	if err := o.ProcessConfigString(text); err != nil {
		return nil, fmt.Errorf("read the server's configuration: %w", err)
	}
	o.StoreDir = s.storage()
	o.Host, o.Port = loopback, port
	o.TLSConfig, o.TLSTimeout = s.tls, tlsTimeout
	o.NoSigs = true // else the server ends this process on a signal
	o.MaxPayload, o.MaxConn, o.MaxControlLine = maxPayload, maxConn, maxControlLine
	o.DisableJetStreamBanner = true
	return o, nil
}
