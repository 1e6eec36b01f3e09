package reconcile

import "errors"

// ErrConflict is what a [Log] answers when somebody else has written to it since it was last folded or published to.
var ErrConflict = errors.New("somebody else has written to the log")
