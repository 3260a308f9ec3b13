// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ErrInUse says that somebody listens at the address to be bound.
var ErrInUse = errors.New("transport: address in use")

// MaxPath is the longest path of an ipc address in bytes: what a Unix socket
// address holds, less the terminator.
const MaxPath = 107

// AddressError is an address that breaks a rule, found by Open before it has
// any effect. Err is ErrUnsupported for an unknown scheme, ErrInUse for a taken
// address, otherwise what the system said, or nil.
type AddressError struct {
	Address string
	Rule    string // what an address must be, and how this one is not
	Err     error
}

// Error names the address and the rule.
func (e *AddressError) Error() string {
	return fmt.Sprintf("transport: endpoint %q: %s", e.Address, e.Rule)
}

// Unwrap gives Err to errors.Is and errors.As.
func (e *AddressError) Unwrap() error { return e.Err }

// Endpoint is a parsed address.
type Endpoint struct {
	Scheme string // "tcp", "ipc" or "inproc"
	Host   string // tcp: name, address without brackets, or "*"
	Port   int    // tcp: 0 lets the system choose
	Path   string // ipc: the path; inproc: the name
	IPv6   bool   // tcp: Host is an IPv6 address
}

// Any reports whether the host stands for every interface of the machine.
func (e Endpoint) Any() bool {
	return e.Host == "*" || e.Host == "0.0.0.0" || e.Host == "::"
}

// Loopback returns e with this machine's loopback address in place of a host
// that stands for every interface: a bound address as a peer here can dial it.
func (e Endpoint) Loopback() Endpoint {
	if e.Any() {
		if e.Host = "127.0.0.1"; e.IPv6 {
			e.Host = "::1"
		}
	}
	return e
}

// String puts the address together again.
func (e Endpoint) String() string {
	if e.Scheme == "tcp" {
		host := e.Host
		if e.IPv6 {
			host = "[" + host + "]"
		}
		return "tcp://" + host + ":" + strconv.Itoa(e.Port)
	}
	return e.Scheme + "://" + e.Path
}

// ParseEndpoint takes an address apart and refuses, as an *AddressError, what
// ZeroMQ would accept in silence (tcp port 99999), cut off (a NUL byte) or
// report by a bare errno (a long path). It resolves no names and opens nothing.
func ParseEndpoint(endpoint string, bind bool) (Endpoint, error) {
	refuse := func(err error, rule string, args ...any) (Endpoint, error) {
		return Endpoint{}, &AddressError{Address: endpoint, Rule: fmt.Sprintf(rule, args...), Err: err}
	}
	scheme, rest, ok := strings.Cut(endpoint, "://")
	switch {
	case !ok:
		return refuse(nil, "no scheme; want tcp://host:port, ipc://path or inproc://name")
	case strings.IndexByte(endpoint, 0) >= 0:
		return refuse(nil, "has a NUL byte")
	}
	switch scheme {
	case "tcp":
		e, rule := parseTCP(rest, bind)
		if rule != "" {
			return refuse(nil, "%s", rule)
		}
		return e, nil
	case "ipc":
		switch {
		case rest == "" || rest == "@" || rest == "*":
			return refuse(nil, "ipc needs a path")
		case len(rest) > MaxPath:
			return refuse(nil, "path is %d bytes, the limit of a Unix socket is %d: %s", len(rest), MaxPath, rest)
		}
		return Endpoint{Scheme: scheme, Path: rest}, nil
	case "inproc":
		if rest == "" {
			return refuse(nil, "inproc needs a name")
		}
		return Endpoint{Scheme: scheme, Path: rest}, nil
	}
	return refuse(ErrUnsupported, "scheme %q is not tcp, ipc or inproc", scheme)
}

// parseTCP returns the endpoint or the rule that it breaks.
func parseTCP(rest string, bind bool) (Endpoint, string) {
	i := strings.LastIndexByte(rest, ':')
	if i < 0 {
		return Endpoint{}, "tcp needs host:port"
	}
	host, port := rest[:i], rest[i+1:]
	e := Endpoint{Scheme: "tcp", Host: host}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(inner)
		if !closed || err != nil || !ip.Is6() {
			return e, "brackets must hold an IPv6 address"
		}
		e.Host, e.IPv6 = inner, true
	}
	switch {
	case host == "":
		return e, "host is empty; * binds every interface"
	case !e.IPv6 && strings.ContainsAny(host, ":[]/ "):
		return e, "host must be a name, an IPv4 address, or an IPv6 address in brackets"
	case port == "":
		return e, "port is missing"
	case !bind && (port == "*" || strings.Trim(port, "0") == ""):
		return e, "a port to connect to must be 1 to 65535, the listener alone can have one chosen"
	case !bind && host == "*":
		return e, "host * can be bound, not connected to"
	case port == "*":
		return e, ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return e, "port " + strconv.Quote(port) + " is not a number from 0 to 65535"
	}
	e.Port = int(n)
	return e, ""
}
