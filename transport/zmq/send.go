// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/pebbe/zmq4"
)

// Send copies the frames into libzmq: one call into C per frame and no Go
// allocation. All frames may be used again when it returns, shared ones too.
// A dealer or push without a peer is ErrFull when it is bound, and when its
// queue is; an XPub is ErrFull when one subscriber's queue is.
func (c *conn) Send(p transport.Packet) error {
	if !c.pattern.CanSend() {
		return fmt.Errorf("zmq: a %s does not send: %w", c.pattern, transport.ErrUnsupported)
	}
	if err := p.Check(c.maxFrame); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return transport.ErrClosed
	}
	err := c.write(p)
	if c.parked { // also after a failure: it too may have eaten the edge
		c.rouse()
	}
	return err
}

// To ask for events costs as much as to send a frame, so a sender leaves it to
// others, on a socket on which little is received, if one asked askEvery ago. A packet
// that its own send has hidden is then late by askLater at most; those after it are not.
const (
	askEvery  = time.Millisecond
	askLater  = 10 * time.Millisecond
	talkative = 100 * time.Millisecond // since a packet came: more may
)

// rouse does a sender's part of the rule at conn. Under mu.
func (c *conn) rouse() {
	now := time.Now()
	switch {
	case now.Sub(c.asked) >= askEvery, now.Sub(c.heard) < talkative:
		c.asked = now
		c.ask()
	case c.armed:
	case c.later == nil:
		c.later, c.armed = time.AfterFunc(askLater, c.askLate), true // stopped by Close
	default:
		c.armed = true
		c.later.Reset(askLater)
	}
}

// ask pokes a parked receiver when there is something to read. Under mu.
func (c *conn) ask() {
	if events, err := c.soc.GetEvents(); err != nil || events&zmq4.POLLIN != 0 {
		c.parked = false // it is on its way; the next sender need not ask
		c.wait.poke()
	}
}

// askLate asks for the senders since it was armed.
func (c *conn) askLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed = false; c.parked && !c.closed {
		c.ask()
	}
}

// write sends the frames. Under mu.
func (c *conn) write(p transport.Packet) error {
	if c.router {
		if p.Peer == "" {
			return transport.ErrUnreachable
		}
		c.id = append(c.id[:0], p.Peer...)
		// After an error here nothing may follow: libzmq would take the next
		// frame for an identity.
		if _, err := c.soc.SendBytes(c.id, zmq4.DONTWAIT|zmq4.SNDMORE); err != nil {
			return sendError(err)
		}
	}
	var failed error
	for i, f := range p.Frames {
		flags := zmq4.DONTWAIT | zmq4.SNDMORE
		if i == len(p.Frames)-1 {
			flags = zmq4.DONTWAIT
		}
		if _, err := c.soc.SendBytes(f, flags); err != nil {
			if i == 0 && !c.router {
				return sendError(err)
			}
			// The peer left in the middle and libzmq dropped the whole message.
			// It drops up to the last frame, so it must see that, or the next
			// message would be taken for the rest of this one.
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return sendError(failed)
	}
	return nil
}

// sendError puts an errno into the words of the contract.
func sendError(err error) error {
	switch {
	case errors.Is(err, zmq4.EHOSTUNREACH):
		return transport.ErrUnreachable
	case errors.Is(err, zmq4.Errno(syscall.EAGAIN)):
		return transport.ErrFull
	case isClosed(err):
		return transport.ErrClosed
	}
	return fmt.Errorf("zmq: send: %w", err)
}

// isClosed recognises a socket or context that has ended.
func isClosed(err error) bool {
	return errors.Is(err, zmq4.ETERM) || errors.Is(err, zmq4.ENOTSOCK) ||
		errors.Is(err, zmq4.ErrorSocketClosed) || errors.Is(err, zmq4.ErrorContextClosed)
}
