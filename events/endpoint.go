package events

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrEndpoint is what [ParseEndpoint] answers for what is not a whole endpoint of this form.
var ErrEndpoint = errors.New("not a cc-peer:v1 endpoint")

const endpointPrefix = "cc-peer:v1:"

// Endpoint is an address that a peer was once seen at. It is a projection and no authority: whoever gets one back
// looks into the registry again before using it.
type Endpoint struct {
	PID    int
	Name   string
	Socket string
}

var (
	escapeEndpoint   = strings.NewReplacer("%", "%25", ":", "%3A")
	unescapeEndpoint = strings.NewReplacer("%25", "%", "%3A", ":")
)

// String is "cc-peer:v1:<pid>:<name>:<socket>", with "%" and ":" of the last two written as "%25" and "%3A".
func (e Endpoint) String() string {
	return endpointPrefix + strconv.Itoa(e.PID) + ":" + escapeEndpoint.Replace(e.Name) + ":" + escapeEndpoint.Replace(e.Socket)
}

// ParseEndpoint reads what [Endpoint.String] writes, and nothing else: the name may be empty, the socket must be an
// absolute path, and every "%" must begin one of the two escapes. Anything else is [ErrEndpoint].
func ParseEndpoint(s string) (Endpoint, error) {
	rest, ok := strings.CutPrefix(s, endpointPrefix)
	parts := strings.Split(rest, ":")
	if !ok || len(parts) != 3 {
		return Endpoint{}, fmt.Errorf("%w: %q", ErrEndpoint, s)
	}
	pid, err := strconv.ParseInt(parts[0], 10, 32)
	e := Endpoint{PID: int(pid), Name: unescapeEndpoint.Replace(parts[1]), Socket: unescapeEndpoint.Replace(parts[2])}
	if err != nil || pid <= 0 || !strings.HasPrefix(e.Socket, "/") || e.String() != s {
		return Endpoint{}, fmt.Errorf("%w: %q", ErrEndpoint, s)
	}
	return e, nil
}
