package follow

import (
	"context"

	"github.com/nats-io/nats.go"
)

// Keeping is Follow with room for another number of messages, so that fewer must be published to have some dropped.
func Keeping(ctx context.Context, nc *nats.Conn, f Filter, keep int, each func(Change) error) error {
	return newFollower(nc, f, keep, each).run(ctx)
}
