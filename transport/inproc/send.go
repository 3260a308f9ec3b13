// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"fmt"

	"github.com/corepipe/corepipe/transport"
)

// Send queues p at its receivers. A connected dealer or push that has no
// listener queues it here; a bound one without a peer is ErrFull. An XPub is
// ErrFull, and sends to nobody, when one subscriber's queue is full. What an
// XSub sends while nobody listens is lost, its subscriptions are not.
func (c *conn) Send(p transport.Packet) error {
	if !c.pattern.CanSend() {
		return fmt.Errorf("inproc: a %s does not send: %w", c.pattern, transport.ErrUnsupported)
	}
	if err := p.Check(c.maxFrame); err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return transport.ErrClosed
	}
	broken, err := c.route(p)
	c.mu.Unlock()
	if broken != nil {
		n := c.network
		n.mu.Lock()
		if broken.connector.link == broken {
			n.sever(broken.connector, reconnect)
		}
		n.mu.Unlock()
	}
	return err
}

// route finds the receivers. A link that it returns had a frame too large for
// its receiver and must be severed, which needs locks that come before c.mu.
func (c *conn) route(p transport.Packet) (broken *link, err error) {
	switch c.pattern {
	case transport.Router:
		e := c.byID[p.Peer]
		if e == nil {
			return nil, transport.ErrUnreachable
		}
		if e.out.full() {
			return nil, transport.ErrFull
		}
		return e.carry(p, true), nil
	case transport.XPub, transport.XSub:
		return c.publish(p)
	}
	for range c.ends {
		e := c.ends[c.next%len(c.ends)]
		c.next = (c.next + 1) % len(c.ends)
		if !e.out.full() {
			return e.carry(p, true), nil
		}
	}
	switch {
	case c.ignored:
		return nil, nil // as ZeroMQ, which reads and forgets
	case len(c.ends) > 0 || c.bound:
		return nil, transport.ErrFull
	case c.sendQueue > 0 && c.backlog.len() >= c.sendQueue:
		return nil, transport.ErrFull
	}
	c.backlog.push(detach(p))
	return nil, nil
}

// publish sends to all who want p, or to nobody.
func (c *conn) publish(p transport.Packet) (broken *link, err error) {
	if c.pattern == transport.XSub && !c.want(&p) {
		return nil, nil
	}
	for _, e := range c.ends {
		if e.wants(p) && e.out.full() {
			return nil, transport.ErrFull
		}
	}
	for _, e := range c.ends {
		if e.wants(p) {
			if l := e.carry(p, true); l != nil {
				broken = l
			}
		}
	}
	return broken, nil
}

// wants reports whether the other side takes p: a subscriber by its topics.
func (e *end) wants(p transport.Packet) bool {
	return e.topics == nil || e.topics.match(p.Frames[0])
}
