// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/corepipe/corepipe/transport"
)

// Network is a transport.Transport whose addresses exist inside it alone: two
// Networks do not meet. The zero value is ready; it must not be copied, and it
// needs no Close. Methods may be called from any goroutine.
//
// Any tcp, ipc or inproc address will do and nothing is opened outside. Hosts
// count as far as they are spelled; localhost, 127.0.0.1 and ::1 are one, and a
// socket bound to every interface is reached by any host. Sockets whose
// patterns do not talk to each other never connect, as in ZeroMQ.
type Network struct {
	mu   sync.Mutex // before any conn.mu, which come before any inbox.mu
	hubs map[string]*hub
	port int // the last one made up
	auto uint32
}

// firstPort is where made-up ports start: the range that systems use too.
const firstPort = 49152

// Open binds or connects in constant time, plus what a new listener connects.
// A second listener at an address is a *transport.AddressError with ErrInUse.
func (n *Network) Open(ctx context.Context, s transport.Socket) (transport.Conn, error) {
	at, err := s.Check()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("inproc: open %s: %w", s.Endpoint, context.Cause(ctx))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.Bind && at.Scheme == "tcp" && at.Port == 0 {
		if at.Port = n.freePort(); at.Port == 0 {
			return nil, &transport.AddressError{Address: s.Endpoint, Rule: "no port is free", Err: transport.ErrInUse}
		}
	}
	h := n.hub(at)
	if s.Bind && h.taken(at) {
		return nil, &transport.AddressError{Address: s.Endpoint, Rule: "address in use", Err: transport.ErrInUse}
	}
	c := newConn(n, h, s.Filled(), at)
	if s.Bind {
		c.endpoint = at.Loopback().String()
		h.binders = append(h.binders, c)
		for _, other := range h.connectors {
			n.join(other)
		}
	} else {
		c.endpoint = s.Endpoint
		h.connectors = append(h.connectors, c)
		n.join(c)
	}
	return c, nil
}

// freePort makes up a port that nobody listens at, 0 when there is none. Under mu.
func (n *Network) freePort() int {
	const ports = 1<<16 - firstPort
	for range ports {
		n.port = (n.port + 1) % ports
		port := firstPort + n.port
		if h := n.hubs[tcpKey(port)]; h == nil || len(h.binders) == 0 {
			return port
		}
	}
	return 0
}

// tcpKey names the hub of a port.
func tcpKey(port int) string { return "tcp:" + strconv.Itoa(port) }

// hub finds or makes the meeting point of an address. Under mu.
func (n *Network) hub(at transport.Endpoint) *hub {
	key := at.String()
	if at.Scheme == "tcp" {
		key = tcpKey(at.Port)
	}
	h := n.hubs[key]
	if h == nil {
		if n.hubs == nil {
			n.hubs = map[string]*hub{}
		}
		h = &hub{key: key}
		h.faults = &Faults{network: n, hub: h}
		n.hubs[key] = h
	}
	return h
}

// identity makes one up, of the length and shape of libzmq's. Under mu.
func (n *Network) identity() string {
	n.auto++
	return string([]byte{0, byte(n.auto >> 24), byte(n.auto >> 16), byte(n.auto >> 8), byte(n.auto)})
}
