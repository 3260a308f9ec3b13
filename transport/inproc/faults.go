// SPDX-License-Identifier: Apache-2.0

package inproc

import (
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// Faults is what goes wrong at one address, for all its present and future
// connections and in both directions. tcp addresses of one port share theirs,
// whatever the host. Every switch works at once and stays until switched back;
// the methods may be called from any goroutine. Without a fault a packet pays
// one atomic load.
type Faults struct {
	network *Network
	hub     *hub
	state   atomic.Pointer[fault] // nil: all is well; written under network.mu
}

// fault is an immutable setting.
type fault struct {
	delay   time.Duration
	drop    func(transport.Packet) bool
	stalled bool
}

// Faults returns the switches of an address, in use or not. It keeps a little
// memory for the address until the Network goes. The error is an *AddressError.
func (n *Network) Faults(endpoint string) (*Faults, error) {
	at, err := transport.ParseEndpoint(endpoint, true)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hub(at)
	h.kept = true
	return h.faults, nil
}

// Delay has every packet sent from now on arrive d later, both ways. The order
// of a connection is kept, so one sent after the delay was shortened arrives no
// sooner than those before it. 0 ends it.
func (f *Faults) Delay(d time.Duration) {
	f.change(func(s *fault) { s.delay = max(d, 0) })
}

// Drop loses the packets that match reports true for, both ways; nil loses
// none. Packet.Peer is the connected side's identity in either direction. match
// is called by Send, under its locks: it must be quick, leave the frames as
// they are and not use the Network.
func (f *Faults) Drop(match func(transport.Packet) bool) {
	f.change(func(s *fault) { s.drop = match })
}

// Stall holds every packet, both ways, until Release, as a peer does that has
// stopped reading and a network that has stopped delivering. Senders go on up
// to their SendQueue. What is held when a connection ends is lost.
func (f *Faults) Stall() { f.change(func(s *fault) { s.stalled = true }) }

// Release delivers what Stall has held, in order, and ends it.
func (f *Faults) Release() { f.change(func(s *fault) { s.stalled = false }) }

// Disconnect breaks the connections of the connected sockets with this identity
// (Socket.Identity, or the one the Router made up), all at the address if it is
// empty, and returns how many there were. Packets in transit are lost, both
// ways; a Router finds the peer unreachable. The connected side comes back
// after away, or never by itself if that is negative.
func (f *Faults) Disconnect(identity string, away time.Duration) int {
	f.network.mu.Lock()
	defer f.network.mu.Unlock()
	broken := 0
	for _, c := range f.hub.connectors {
		if c.link != nil && (identity == "" || c.link.id == identity) {
			f.network.sever(c, away)
			broken++
		}
	}
	return broken
}

// Reconnect brings back at once who was sent away by Disconnect: the sockets
// with this Socket.Identity, or all if it is empty. It returns how many.
func (f *Faults) Reconnect(identity string) int {
	f.network.mu.Lock()
	defer f.network.mu.Unlock()
	back := 0
	for _, c := range f.hub.connectors {
		if c.away && (identity == "" || c.identity == identity) {
			f.network.comeBack(c)
			back++
		}
	}
	return back
}

// change replaces the setting and lets through what it no longer holds.
func (f *Faults) change(edit func(*fault)) {
	f.network.mu.Lock()
	defer f.network.mu.Unlock()
	next := &fault{}
	if now := f.state.Load(); now != nil {
		*next = *now
	}
	edit(next)
	if next.delay == 0 && next.drop == nil && !next.stalled {
		next = nil
	}
	f.state.Store(next)
	for _, c := range f.hub.connectors {
		if c.link != nil {
			c.link.near.out.flush()
			c.link.far.out.flush()
		}
	}
}
