// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"slices"

	"github.com/corepipe/corepipe/transport"
)

// hub is where the sockets of one address meet: of one port, for tcp. All of it
// is under Network.mu.
type hub struct {
	key        string
	binders    []*conn
	connectors []*conn
	faults     *Faults
	kept       bool // somebody has the Faults, so the hub must outlive its sockets
}

// host spells the loopback names one way.
func host(e transport.Endpoint) string {
	switch e.Host {
	case "localhost", "::1":
		return "127.0.0.1"
	}
	return e.Host
}

// taken reports whether a listener is in the way of a new one.
func (h *hub) taken(at transport.Endpoint) bool {
	return slices.ContainsFunc(h.binders, func(c *conn) bool {
		return at.Any() || c.at.Any() || host(c.at) == host(at)
	})
}

// listener finds who answers a connection to at, or nil.
func (h *hub) listener(at transport.Endpoint) *conn {
	i := slices.IndexFunc(h.binders, func(c *conn) bool {
		return c.at.Any() || host(c.at) == host(at.Loopback())
	})
	if i < 0 {
		return nil
	}
	return h.binders[i]
}

// fits reports whether two patterns talk to each other.
func fits(a, b transport.Pattern) bool {
	if a > b {
		a, b = b, a
	}
	switch a {
	case transport.Router, transport.Dealer:
		return b <= transport.Dealer
	case transport.Push:
		return b == transport.Pull
	case transport.XPub:
		return b == transport.XSub || b == transport.Sub
	}
	return false
}

// remove takes a closed socket out, and the hub when nothing is left of it.
// Under n.mu.
func (n *Network) remove(c *conn) {
	h := c.hub
	h.binders = slices.DeleteFunc(h.binders, func(o *conn) bool { return o == c })
	h.connectors = slices.DeleteFunc(h.connectors, func(o *conn) bool { return o == c })
	if len(h.binders)+len(h.connectors) == 0 && !h.kept {
		delete(n.hubs, h.key)
	}
}
