package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"peerbus/events"
)

const (
	serverFile = "server.json"
	portFile   = "port"
)

// Server says where the bus of the running watcher is. After a kill -9 it stays behind, so who reads it connects
// to see.
type Server struct {
	URL     string      `json:"url"`
	PID     int         `json:"pid"`
	Start   string      `json:"start"` // of the process, as the operating system says it; "0" where that is not known
	CA      string      `json:"ca"`    // path of the certificate that the server must show
	Host    string      `json:"host"`
	Started events.Time `json:"started"` // when the server was ready
	Version string      `json:"version"` // of the server
}

// WriteServer says where the bus is.
func (d *Dir) WriteServer(s Server) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write %s: %w", serverFile, err)
	}
	return replace(d.file(serverFile), append(data, '\n'))
}

// RemoveServer says that there is no bus any more.
func (d *Dir) RemoveServer() error {
	if err := os.Remove(d.file(serverFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", serverFile, err)
	}
	return nil
}

// Server is where the bus is, [ErrNotRunning] where there is none.
func (d *Dir) Server() (Server, error) {
	data, err := os.ReadFile(d.file(serverFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Server{}, fmt.Errorf("%w in %s", ErrNotRunning, d.path)
	}
	if err != nil {
		return Server{}, fmt.Errorf("find the bus: %w", err)
	}
	var s Server
	if err := json.Unmarshal(data, &s); err != nil {
		return Server{}, fmt.Errorf("find the bus: read %s: %w", d.file(serverFile), err)
	}
	return s, nil
}

// Port is the TCP port that the bus had last, 0 where it never had one.
func (d *Dir) Port() (int, error) {
	data, err := os.ReadFile(d.file(portFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the kept port: %w", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 16)
	if err != nil {
		return 0, nil // as if it had never had one: any free port does
	}
	return int(port), nil
}

// KeepPort keeps the TCP port for the next start.
func (d *Dir) KeepPort(port int) error {
	return replace(d.file(portFile), []byte(strconv.Itoa(port)+"\n"))
}
