// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"slices"

	"github.com/corepipe/corepipe/transport"
)

// attach makes e usable to c and sends what has waited for it. Under c.mu.
func (c *conn) attach(e *end) {
	c.ends = append(c.ends, e)
	switch c.pattern {
	case transport.Router:
		c.byID[e.peer] = e
	case transport.Dealer, transport.Push:
		for c.backlog.len() > 0 {
			// Copied and held to the bound when it was queued. One too large for
			// this receiver is lost.
			_ = e.carry(c.backlog.pop(), false)
		}
	case transport.XSub, transport.Sub:
		for topic := range c.wanted {
			e.out.push(notice(subscribe, []byte(topic)))
		}
	}
}

// detach takes e away from c. Under c.mu.
func (c *conn) detach(e *end) {
	if c.byID[e.peer] == e {
		delete(c.byID, e.peer)
	}
	if i := slices.Index(c.ends, e); i >= 0 {
		c.ends = slices.Delete(c.ends, i, i+1)
		if c.next > i {
			c.next--
		}
	}
}

// want keeps count of an XSub's topics and reports whether the packet goes
// upstream: every subscription, and an end when it is the last. Under c.mu.
func (c *conn) want(p *transport.Packet) bool {
	kind, topic, ok := subscription(p)
	switch {
	case !ok:
		return true
	case kind == subscribe:
		c.wanted[string(topic)]++
		return true
	}
	switch c.wanted[string(topic)] {
	case 0:
		return false
	case 1:
		delete(c.wanted, string(topic))
		return true
	}
	c.wanted[string(topic)]--
	return false
}
