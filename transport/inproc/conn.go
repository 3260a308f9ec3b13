// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// conn is one socket.
type conn struct {
	network   *Network
	hub       *hub
	at        transport.Endpoint // bound or dialled, port resolved
	endpoint  string             // as a peer dials it
	pattern   transport.Pattern
	bound     bool
	identity  string
	handover  bool
	sendQueue int
	maxFrame  int64
	linger    time.Duration
	box       inbox

	// Under network.mu.
	link  *link // a connected socket's
	away  bool  // a fault keeps it from connecting
	spell int   // counts the times away, so that an old timer can tell it is late

	mu      sync.Mutex      // held by Send throughout
	ends    []*end          // in the order of connecting
	byID    map[string]*end // a Router's
	next    int             // the end whose turn it is: Dealer and Push
	backlog fifo[transport.Packet]
	wanted  map[string]int // an XSub's topics and how often it asked; a Sub's
	ignored bool           // connected, but the Router has another of its identity
	closed  bool
}

func newConn(n *Network, h *hub, s transport.Socket, at transport.Endpoint) *conn {
	c := &conn{
		network: n, hub: h, at: at, pattern: s.Pattern, bound: s.Bind,
		identity: string(s.Identity), handover: s.Handover,
		sendQueue: s.SendQueue, maxFrame: s.MaxFrame, linger: s.Linger,
		box: inbox{kick: make(chan struct{}, 1)},
	}
	switch s.Pattern {
	case transport.Router:
		c.byID = map[string]*end{}
	case transport.Sub, transport.XSub:
		c.wanted = map[string]int{}
		for _, topic := range s.Topics {
			c.wanted[string(topic)]++
		}
	}
	return c
}

// Endpoint returns the resolved address; for a tcp socket bound to every
// interface it names the loopback address.
func (c *conn) Endpoint() string { return c.endpoint }

// Recv takes packets from the peers in turn. A context that is done wins over
// waiting packets.
func (c *conn) Recv(ctx context.Context) (transport.Packet, error) {
	if !c.pattern.CanRecv() {
		return transport.Packet{}, fmt.Errorf("inproc: a %s does not receive: %w", c.pattern, transport.ErrUnsupported)
	}
	return c.box.recv(ctx)
}

// Close returns at once. What has reached a receiver's queue stays there; of
// what is delayed, that much arrives as Linger covers; what waits for a
// listener is dropped.
func (c *conn) Close() error {
	n := c.network
	n.mu.Lock()
	defer n.mu.Unlock()
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.backlog = fifo[transport.Packet]{}
	links := make([]*link, len(c.ends))
	for i, e := range c.ends {
		links[i] = e.link
	}
	c.mu.Unlock()
	if closed {
		return nil
	}
	c.spell++
	for _, l := range links {
		l.binder.mu.Lock()
		l.connector.mu.Lock()
		n.part(l, c.linger)
		l.connector.mu.Unlock()
		l.binder.mu.Unlock()
	}
	c.box.close()
	n.remove(c)
	for _, l := range links {
		if l.connector != c {
			n.join(l.connector) // another listener of the port may do, on another host
		}
	}
	return nil
}
