// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/pebbe/zmq4"
)

// Recv takes a waiting packet, or parks when there is none. A context that is done
// wins over waiting packets. The
// first Recv that parks on a context registers with it until the Conn is closed
// or a Recv brings another one, so keep to one context for many calls.
func (c *conn) Recv(ctx context.Context) (transport.Packet, error) {
	if !c.pattern.CanRecv() {
		return transport.Packet{}, fmt.Errorf("zmq: a %s does not receive: %w", c.pattern, transport.ErrUnsupported)
	}
	c.recvMu.Lock()
	defer c.recvMu.Unlock()
	if ctx.Err() != nil {
		return transport.Packet{}, context.Cause(ctx)
	}
	if err := c.park(ctx); err != nil {
		return transport.Packet{}, err
	}
	p, err := c.in, c.inErr
	c.in, c.inErr = transport.Packet{}, nil
	return p, err
}

// park waits until look has found something, which the poller has do so before it waits
// at all: a look of our own first would be paid twice at each wait. Under recvMu.
func (c *conn) park(ctx context.Context) error {
	c.watch(ctx)
	for ctx.Err() == nil {
		err := c.wait.raw.Read(c.step)
		if err == nil {
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if c.isClosed() {
				return transport.ErrClosed // with the descriptor
			}
			return fmt.Errorf("zmq: wait: %w", err)
		}
		c.wait.settle()
	}
	c.mu.Lock()
	c.parked = false
	c.mu.Unlock()
	return context.Cause(ctx)
}

func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// watch has the context's end poke the receiver. The caller must look at the
// context after it: all that end before anybody asks for Done share one closed
// channel, and the second of those is not told from the first. Under recvMu.
func (c *conn) watch(ctx context.Context) {
	done := ctx.Done() // channels can be compared, contexts not always
	if done == c.watched {
		return
	}
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
	if c.watched = done; done != nil {
		c.unwatch = context.AfterFunc(ctx, c.wait.poke)
	}
}

// tryPark is called by the poller, armed, before it waits and after each edge.
func (c *conn) tryPark(uintptr) bool { return c.look() }

// look takes one packet or error into in and inErr, or else marks the receiver
// parked. Finding nothing takes the place of GetEvents: a receive that would
// block has handled every command of the socket, so that the next one makes an
// edge. Under recvMu.
func (c *conn) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked = false
	if c.closed {
		c.inErr = transport.ErrClosed
		return true
	}
	var err error
	if c.in, err = c.read(); err == nil {
		if c.pattern.CanSend() {
			c.heard = time.Now()
		}
		return true
	}
	switch {
	case errors.Is(err, zmq4.Errno(syscall.EAGAIN)):
		c.parked = true
		return false
	case isClosed(err):
		c.inErr = transport.ErrClosed
	default:
		c.inErr = fmt.Errorf("zmq: receive: %w", err)
	}
	return true
}

// read takes one message, which libzmq hands over whole: after the first frame
// no other can be missing. Under recvMu and mu.
func (c *conn) read() (transport.Packet, error) {
	var p transport.Packet
	frame, err := c.soc.RecvBytes(zmq4.DONTWAIT)
	if err != nil {
		return p, err
	}
	if c.router {
		if string(frame) != c.lastPeer {
			c.lastPeer = string(frame)
		}
		p.Peer = c.lastPeer
		if frame, err = c.soc.RecvBytes(zmq4.DONTWAIT); err != nil {
			return p, err
		}
	}
	p.Frames = c.list(frame)
	for {
		more, err := c.soc.GetRcvmore()
		if err != nil {
			return p, err
		}
		if !more {
			p.Shared = len(p.Frames)
			return p, nil
		}
		if frame, err = c.soc.RecvBytes(zmq4.DONTWAIT); err != nil {
			return p, err
		}
		p.Frames = append(p.Frames, frame)
	}
}

// A list of one frame is cut from a longer one, so that most messages allocate none.
// What is not read any more may stay with its neighbours for as long as they, which
// is why large frames have lists of their own.
const (
	listsAtOnce = 16
	largeFrame  = 64 << 10
)

// list is a list of one frame. Under recvMu.
func (c *conn) list(frame []byte) [][]byte {
	if len(frame) > largeFrame {
		return [][]byte{frame}
	}
	if len(c.lists) == 0 {
		c.lists = make([][]byte, listsAtOnce)
	}
	list := c.lists[:1:1]
	c.lists, list[0] = c.lists[1:], frame
	return list
}
