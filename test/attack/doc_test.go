// Package attack tries to have one role's key do what another's may. Every try of a table is made against the server
// as it is shipped, where it must have no effect, and against one without accounts and permissions, where it must
// have one: a table that sees nothing there would prove nothing here.
package attack

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
