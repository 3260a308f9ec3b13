// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"time"

	"github.com/corepipe/corepipe/transport"
)

// reconnect is how long a connected side waits after a break that no fault
// timed: libzmq's interval.
const reconnect = 100 * time.Millisecond

// link is a connection: two ends, which are what its sockets know of it.
type link struct {
	connector, binder *conn
	near, far         *end   // the connector's end and the binder's
	id                string // the connector's identity, given or made up
}

// end is one socket's side of a link. It does not change.
type end struct {
	link    *link
	peer    string  // the other side's identity
	out, in *pipe   // to the other side, and from it
	topics  *topics // an XPub's end: what the other side wants; nil elsewhere
}

// join connects c to the listener at its address, if there is one, c is free
// and no fault keeps it away. Under n.mu.
func (n *Network) join(c *conn) {
	b := c.hub.listener(c.at)
	if c.link != nil || c.away || b == nil || !fits(c.pattern, b.pattern) {
		return
	}
	l := &link{connector: c, binder: b, id: c.identity}
	if l.id == "" {
		l.id = n.identity()
	}
	// What a pipe delivers may be answered at once, so both sides must know the
	// link before either can send. Several conns' mu are held together under
	// n.mu alone, hence in any order.
	b.mu.Lock()
	defer b.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := b.byID[l.id]; old != nil {
		if !b.handover {
			c.ignored = true
			return
		}
		loser := old.link.connector
		loser.mu.Lock()
		n.part(old.link, 0)
		loser.ignored = true
		loser.mu.Unlock()
	}
	c.ignored = false
	name := b.identity
	if name == "" {
		name = n.identity()
	}
	up, down := newPipe(c, b, l.id), newPipe(b, c, name)
	l.near, l.far = newEnd(l, c, name, up, down), newEnd(l, b, l.id, down, up)
	c.link = l
	b.attach(l.far)
	c.attach(l.near)
}

// newEnd makes owner's side. An XPub must have its ear at the pipe before the
// other side subscribes.
func newEnd(l *link, owner *conn, peer string, out, in *pipe) *end {
	e := &end{link: l, peer: peer, out: out, in: in}
	if owner.pattern == transport.XPub {
		e.topics = &topics{}
		in.arrived = e.topics.hear
	}
	return e
}

// newPipe leads from one socket to another, which knows the sender as peer.
func newPipe(from, to *conn, peer string) *pipe {
	p := &pipe{to: &to.box, faults: from.hub.faults, limit: from.sendQueue, maxFrame: to.maxFrame}
	if to.pattern == transport.Router {
		p.peer = peer
	}
	return p
}

// part takes the link apart; linger says how long packets in transit may still
// arrive. Under n.mu and with both conns' mu held.
func (n *Network) part(l *link, linger time.Duration) {
	for _, e := range []*end{l.near, l.far} {
		e.in.end(linger)
		if e.topics != nil {
			e.topics.endAll(e.in)
		}
	}
	l.binder.detach(l.far)
	l.connector.detach(l.near)
	l.connector.link = nil
}

// sever breaks c's link and has c come back after away, or not by itself when
// away is negative. Under n.mu.
func (n *Network) sever(c *conn, away time.Duration) {
	if l := c.link; l != nil {
		l.binder.mu.Lock()
		c.mu.Lock()
		n.part(l, 0)
		c.mu.Unlock()
		l.binder.mu.Unlock()
	}
	c.away = true
	c.spell++
	if away == 0 {
		n.comeBack(c)
		return
	}
	if away < 0 {
		return
	}
	spell := c.spell
	time.AfterFunc(away, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if c.spell == spell { // not closed or sent away again meanwhile
			n.comeBack(c)
		}
	})
}

// comeBack ends c's time away. Under n.mu.
func (n *Network) comeBack(c *conn) {
	c.away = false
	c.spell++
	n.join(c)
}
