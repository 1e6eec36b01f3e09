package bus

import (
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The server's codes that are told apart.
const (
	codeAccountFull    = 10002 // the account's resources are used up
	codeWrongLast      = 10071 // wrong last sequence: the fence held
	codeWrongLastAgain = 10164 // the same, where the server does not say which it has
)

// outcome is what became of a publish.
type outcome int

const (
	failed   outcome = iota // not known, or not possible now
	stored                  // on disk
	conflict                // a rival has published, or the log has forgotten the last event
	refused                 // the server will never take it as it is; of a batch, some of it
)

// judge tells what a publish that answered err came to. A lost acknowledgement whose publish is repeated meets its own
// fence: that is a conflict as well, and the fold finds the event.
func judge(err error) outcome {
	if err == nil {
		return stored
	}
	if errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) {
		return refused
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return failed
	}
	switch {
	case api.ErrorCode == codeWrongLast, api.ErrorCode == codeWrongLastAgain:
		return conflict
	case api.ErrorCode != codeAccountFull && api.Code >= 400 && api.Code < 500:
		return refused
	}
	return failed
}
