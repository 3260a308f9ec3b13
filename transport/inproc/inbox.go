// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"context"
	"sync"

	"github.com/corepipe/corepipe/transport"
)

// inbox is where a Conn receives: the pipes that lead to it, taken in turn, a
// packet each, so that a busy peer delays nobody. It has one receiver.
type inbox struct {
	kick chan struct{} // one slot; a value says that waiting was answered

	mu      sync.Mutex
	ready   fifo[*pipe] // pipes that hold packets, each once
	waiting bool        // the receiver has found nothing and wants a kick
	closed  bool
}

// recv waits for a packet, the end of ctx or close.
func (b *inbox) recv(ctx context.Context) (transport.Packet, error) {
	for {
		if ctx.Err() != nil {
			return transport.Packet{}, context.Cause(ctx)
		}
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			return transport.Packet{}, transport.ErrClosed
		}
		if b.ready.len() > 0 {
			p := b.take()
			b.mu.Unlock()
			return p, nil
		}
		b.waiting = true
		b.mu.Unlock()
		select {
		case <-b.kick: // perhaps for a packet that an earlier call took; look again
		case <-ctx.Done():
		}
	}
}

// take returns the next packet of the next pipe. Under mu, with a pipe ready.
func (b *inbox) take() transport.Packet {
	from := b.ready.pop()
	p := from.queue.pop()
	if from.queue.len() > 0 {
		b.ready.push(from)
	}
	return p
}

// wake lets the receiver look again. Under mu. It never blocks: when the slot is
// taken the receiver is on its way already.
func (b *inbox) wake() {
	if b.waiting {
		b.waiting = false
		select {
		case b.kick <- struct{}{}:
		default:
		}
	}
}

// close drops what is queued and ends recv.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.ready = fifo[*pipe]{}
	b.wake()
}
