package codex

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary something else than tests.
const roleEnv = "PEERBUS_CODEX_TEST_ROLE"

// roles are what the test binary can be, by the value of roleEnv.
var roles = map[string]func() int{}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		os.Exit(role())
	}
	goleak.VerifyTestMain(m)
}

// eventually waits until ok, which it asks again and again, and fails the test after ten seconds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
