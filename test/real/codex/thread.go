package codex

import (
	"errors"
	"fmt"
)

// State is what can be seen of a thread.
type State struct {
	Lock   bool // its lock's file is there
	Holder int  // the pid that holds the lock, 0 for nobody
	Turn   Turn // "" before its first turn
}

// State reads the state of a thread, whether there ever was such a thread or not.
func (h *Home) State(thread string) (State, error) {
	locks, err := h.Locks()
	if err != nil {
		return State{}, err
	}
	r, err := h.Rollout(thread)
	if err != nil && !errors.Is(err, errNoRollout) {
		return State{}, err
	}
	holder, there := locks[thread]
	return State{Lock: there, Holder: holder, Turn: r.Turn}, nil
}

// Becomes waits until the state of a thread is the wanted one.
func (h *Home) Becomes(thread string, want State) {
	h.t.Helper()
	h.Until(fmt.Sprintf("thread %s is %+v", thread, want), func() error {
		got, err := h.State(thread)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("it is %+v", got)
		}
		return nil
	})
}

// UntilTurn waits until that is the last that a thread says of a turn.
func (h *Home) UntilTurn(thread string, want Turn) {
	h.t.Helper()
	h.Until(fmt.Sprintf("thread %s says %s", thread, want), func() error {
		got, err := h.State(thread)
		if err != nil {
			return err
		}
		if got.Turn != want {
			return fmt.Errorf("it says %q", got.Turn)
		}
		return nil
	})
}
