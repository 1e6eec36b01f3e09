package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"peerbus/internal/state"
)

// AddSender makes a key for the sender with that name, where it has none, and lets it in. The others notice nothing
// but a moment in which a question may find no responders.
func (s *Server) AddSender(name string) error {
	if _, err := s.dir.EnsureKey(state.SenderRole(name)); err != nil {
		return err
	}
	// The server sets up what a new account imports at the reload after the one that brings the account.
	for range 2 {
		if err := s.reload(); err != nil {
			return fmt.Errorf("add sender %s: %w", name, err)
		}
	}
	return nil
}

// RemoveSender takes the sender's key away and cuts its connections.
func (s *Server) RemoveSender(name string) error {
	if err := s.dir.RemoveKey(state.SenderRole(name)); err != nil {
		return err
	}
	if err := s.reload(); err != nil {
		return fmt.Errorf("remove sender %s: %w", name, err)
	}
	return nil
}

func (s *Server) reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return server.ErrServerNotRunning
	}
	o, err := s.options(s.started)
	if err != nil {
		return err
	}
	return s.ns.ReloadOptions(o)
}
