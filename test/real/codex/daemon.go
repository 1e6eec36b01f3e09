package codex

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// The processes that the first window starts for all that come after it, by the files that name them: the daemon, and
// what looks for updates of its program.
const (
	daemonFile  = "app-server-daemon/daemon.pid"
	updaterFile = "app-server-daemon/daemon-updater.pid"
)

// named is the process that the file in Codex's folder names, and whether it runs.
func (h *Home) named(file string) (process, bool) {
	data, err := os.ReadFile(filepath.Join(h.Codex(), file))
	if err != nil {
		return process{}, false
	}
	var doc struct {
		PID      int `json:"pid"`
		Identity struct {
			Ticks int64 `json:"startTicks"`
		} `json:"processIdentity"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return process{}, false // it is being written
	}
	p, ok := find(doc.PID)
	return p, ok && p.start == strconv.FormatInt(doc.Identity.Ticks, 10)
}

// Daemon is the pid of the daemon, which holds the threads of all windows that have it behind them; 0 for none.
func (h *Home) Daemon() int {
	p, _ := h.named(daemonFile)
	return p.pid
}

// StartDaemon starts a daemon that no window has asked for.
func (h *Home) StartDaemon() {
	h.t.Helper()
	if out, err := h.command(h.t.Context(), h.client.path, "app-server", "daemon", "start").CombinedOutput(); err != nil {
		h.t.Fatalf("start a daemon: %v: %s", err, out)
	}
}

// KillDaemon ends the daemon as kill -9 does, and returns when it is gone.
func (h *Home) KillDaemon() {
	h.t.Helper()
	p, ok := h.named(daemonFile)
	if !ok {
		h.t.Fatal("kill the daemon: there is none")
	}
	h.kill(p)
}

// kill ends p as kill -9 does, and returns when it is gone.
func (h *Home) kill(p process) {
	h.t.Helper()
	if err := p.signal(os.Kill); err != nil {
		h.t.Fatalf("kill %s: %v", p, err)
	}
	h.gone(p)
}

// gone waits until p has ended.
func (h *Home) gone(p process) {
	h.t.Helper()
	h.Until(fmt.Sprintf("process %s has ended", p), func() error {
		if p.alive() {
			return errors.New("it runs")
		}
		return nil
	})
}

// endDaemon ends the daemon and what belongs to it, but after a failure does not ask it to: it would wait for the turns
// that are still open.
func (h *Home) endDaemon(ctx context.Context) {
	if p, ok := h.named(daemonFile); ok && h.t.Failed() {
		if err := p.signal(os.Kill); err != nil {
			h.t.Errorf("end the daemon: %v", err)
		}
	} else if ok {
		if out, err := h.command(ctx, h.client.path, "app-server", "daemon", "stop").CombinedOutput(); err != nil {
			h.t.Errorf("stop the daemon: %v: %s", err, out)
		}
	}
	if p, ok := h.named(updaterFile); ok { // no command ends it
		if err := p.signal(syscall.SIGTERM); err != nil {
			h.t.Errorf("end what looks for updates: %v", err)
		}
	}
}

// removeSockets removes what a daemon that was killed has left in the folder of all daemons' sockets. Each has a name
// that is made of the path of the link to it.
func (h *Home) removeSockets() {
	for _, link := range []string{"app-server-control/app-server-control.sock", "app-server-daemon/daemon-updater.sock"} {
		name := fmt.Sprintf("%x", sha256.Sum256([]byte(filepath.Join(h.Codex(), link))))
		socket := filepath.Join("/tmp", fmt.Sprintf("codex-daemon-%d", os.Getuid()), name)
		for _, path := range []string{socket, socket + ".lock"} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				h.t.Errorf("remove a socket: %v", err)
			}
		}
	}
}
