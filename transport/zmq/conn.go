// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/pebbe/zmq4"
)

// conn is one socket. libzmq aborts the process when two goroutines are in a
// socket at once, so every call on soc is made under mu.
//
// Sending has a second effect: it handles the socket's internal commands, and
// with them the edge on the descriptor that a parked receiver is waiting for.
// Hence the rule: a receiver sets parked in the same critical section in which
// it found nothing, and after a sender that sees parked somebody asks for events,
// later than its last frame, and pokes the receiver when something is there to
// read: see rouse.
//
// Lock order: recvMu, mu.
type conn struct {
	t        *Transport
	pattern  transport.Pattern
	router   bool
	maxFrame int64
	endpoint string // as a peer dials it
	bound    string // as libzmq names it; empty when connected
	wait     *waiter
	done     chan struct{}      // closed when Close is through; closeErr may be read then
	step     func(uintptr) bool // tryPark, bound once

	closeErr error

	recvMu   sync.Mutex // held by Recv throughout
	watched  <-chan struct{}
	unwatch  func() bool
	in       transport.Packet // what read found
	inErr    error
	lists    [][]byte // what is left for list to cut from
	lastPeer string   // the identity of the last packet, so that a busy peer's costs no allocation

	mu     sync.Mutex
	soc    *zmq4.Socket
	id     []byte // scratch for Packet.Peer
	parked bool
	closed bool
	asked  time.Time   // when a sender last asked for events
	heard  time.Time   // when a packet last came; of sockets that send as well
	later  *time.Timer // asks for senders that did not; nil until one is needed
	armed  bool        // later is running
	file   fs.FileInfo // of a bound ipc path
}

// Endpoint returns the resolved address. For a tcp socket bound to every
// interface it names the loopback address, which is right on this machine; a
// peer elsewhere needs the machine's name and this port.
func (c *conn) Endpoint() string { return c.endpoint }

// Close wakes a Recv, waits for it and for a Send to leave, and closes the
// socket; what was sent is delivered in the background for as long as Linger.
// A bound address is free when Close returns, an ipc file removed.
func (c *conn) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if !first {
		<-c.done
		return c.closeErr
	}
	defer close(c.done)
	c.wait.poke()
	c.recvMu.Lock() // a Recv that waits has left
	c.watch(context.Background())
	c.recvMu.Unlock()

	c.mu.Lock() // a Send has left; closed keeps others out
	defer c.mu.Unlock()
	if c.later != nil {
		c.later.Stop()
	}
	waitErr := c.wait.close()
	if c.bound != "" {
		c.release()
	}
	c.closeErr = errors.Join(waitErr, c.soc.Close())
	c.t.forget(c)
	return c.closeErr
}
