package standin

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Serve answers with h on a free port of the loopback address until the test ends, and returns the URL of its root.
// What is being answered at the end of the test is broken off.
func Serve(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for the stand-in: %v", err)
	}
	srv := &http.Server{Handler: h}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve the stand-in: %v", err)
		}
	})
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Errorf("close the stand-in: %v", err)
		}
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}
