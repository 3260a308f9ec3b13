// SPDX-License-Identifier: Apache-2.0

package inproc

import "github.com/corepipe/corepipe/transport"

// carry sends p over the link, copied if it is still the caller's. It returns
// the link when p was too large for the other side, which ends a connection.
func (e *end) carry(p transport.Packet, copied bool) (broken *link) {
	if f := e.out.faults.state.Load(); f != nil && f.drop != nil {
		seen := p
		seen.Peer = e.link.id
		if f.drop(seen) {
			return nil
		}
	}
	for _, f := range p.Frames {
		if int64(len(f)) > e.out.maxFrame {
			return e.link
		}
	}
	if copied { // before the receiver's lock is taken: frames may be large
		p = detach(p)
	}
	e.out.push(p)
	return nil
}

// detach copies the frames before Shared into one new block, each with its
// capacity cut to its length, and the list of frames.
func detach(p transport.Packet) transport.Packet {
	size := 0
	for _, f := range p.Frames[:p.Shared] {
		size += len(f)
	}
	block := make([]byte, 0, size)
	frames := make([][]byte, len(p.Frames))
	for i, f := range p.Frames[:p.Shared] {
		start := len(block)
		block = append(block, f...)
		frames[i] = block[start:len(block):len(block)]
	}
	copy(frames[p.Shared:], p.Frames[p.Shared:])
	p.Frames = frames
	return p
}
