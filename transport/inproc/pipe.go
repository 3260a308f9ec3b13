// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"time"

	"github.com/corepipe/corepipe/transport"
)

// pipe carries packets one way over a link. It has one sender, which holds its
// own Conn's mu; the fields below the gap are under to.mu.
type pipe struct {
	to       *inbox
	faults   *Faults
	peer     string // what Recv reports as Packet.Peer
	limit    int    // packets held; 0 is none
	maxFrame int64  // the receiver's

	arrived func(transport.Packet) // an XPub's ear for subscriptions, or nil
	queue   fifo[transport.Packet] // ready to be received
	transit fifo[held]             // kept back by a delay or a stall, in order
	due     time.Time              // of the last one in transit
	timer   *time.Timer            // for the first one in transit; nil until a delay is on
	dead    bool                   // nothing gets in any more
}

// held is a packet in transit.
type held struct {
	packet transport.Packet
	due    time.Time
}

// full reports ErrFull ahead of push. Only the sender adds, so it holds.
func (p *pipe) full() bool {
	if p.limit == 0 {
		return false
	}
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	return p.queue.len()+p.transit.len() >= p.limit
}

// push passes on a packet whose memory the receiver may own. A dead pipe drops it.
func (p *pipe) push(packet transport.Packet) {
	packet.Peer = p.peer
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	if p.dead || p.to.closed {
		return
	}
	// Loaded under mu: whoever ends a fault changes it first and pumps after, so
	// no packet is left behind.
	fault := p.faults.state.Load()
	if fault == nil && p.transit.len() == 0 {
		p.deliver(packet)
		return
	}
	now := time.Now()
	if fault != nil {
		now = now.Add(fault.delay)
	}
	if now.After(p.due) {
		p.due = now // never before the one in front
	}
	p.transit.push(held{packet, p.due})
	p.pump()
}

// deliver puts the packet in the receiver's reach. Under to.mu.
func (p *pipe) deliver(packet transport.Packet) {
	if p.arrived != nil {
		p.arrived(packet)
	}
	if p.queue.push(packet); p.queue.len() == 1 {
		p.to.ready.push(p)
	}
	p.to.wake()
}

// pump delivers what is due and sets the timer for the rest. Under to.mu.
func (p *pipe) pump() {
	if fault := p.faults.state.Load(); fault != nil && fault.stalled {
		return
	}
	now := time.Now()
	for p.transit.len() > 0 {
		if wait := p.transit.first().due.Sub(now); wait > 0 {
			p.arm(wait)
			return
		}
		if packet := p.transit.pop().packet; !p.to.closed {
			p.deliver(packet)
		}
	}
}

// flush pumps after a fault was changed.
func (p *pipe) flush() {
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.pump()
}

// arm has pump called after d. Under to.mu.
func (p *pipe) arm(d time.Duration) {
	if p.timer != nil {
		p.timer.Reset(d)
		return
	}
	p.timer = time.AfterFunc(d, p.flush)
}

// end lets nothing more in and drops what is more than linger from its arrival.
func (p *pipe) end(linger time.Duration) {
	p.to.mu.Lock()
	defer p.to.mu.Unlock()
	p.dead = true
	fault := p.faults.state.Load()
	last, kept := time.Now().Add(linger), 0
	for kept < p.transit.len() && !p.transit.items[p.transit.head+kept].due.After(last) {
		kept++
	}
	if linger <= 0 || (fault != nil && fault.stalled) {
		kept = 0 // a stalled link's end is not known to those who would release it
	}
	p.transit.truncate(kept)
	if kept == 0 && p.timer != nil {
		p.timer.Stop()
	}
}
