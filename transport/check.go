// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"strconv"
)

// row is the one table of names and abilities.
func (p Pattern) row() (name string, sends, receives bool) {
	switch p {
	case Router:
		return "router", true, true
	case Dealer:
		return "dealer", true, true
	case Push:
		return "push", true, false
	case Pull:
		return "pull", false, true
	case XPub:
		return "xpub", true, true
	case XSub:
		return "xsub", true, true
	case Sub:
		return "sub", false, true
	}
	return "pattern " + strconv.Itoa(int(p)), false, false
}

// String is the name in lower case, as ZeroMQ writes it.
func (p Pattern) String() string { name, _, _ := p.row(); return name }

// CanSend reports whether Send exists for the pattern; elsewhere it is ErrUnsupported.
func (p Pattern) CanSend() bool { _, sends, _ := p.row(); return sends }

// CanRecv reports whether Recv exists for the pattern; elsewhere it is ErrUnsupported.
func (p Pattern) CanRecv() bool { _, _, receives := p.row(); return receives }

// SocketError is a field of Socket that breaks a rule.
type SocketError struct {
	Pattern Pattern
	Field   string
	Rule    string
}

// Error names the field and the rule.
func (e *SocketError) Error() string {
	return fmt.Sprintf("transport: %s socket: %s %s", e.Pattern, e.Field, e.Rule)
}

// autoIdentity is the length of the identities that libzmq's Router makes up,
// which start with a zero byte. One of a caller's of that shape might meet one.
const autoIdentity = 5

// Check holds s to the rules that every transport shares and returns its parsed
// address. Errors: *AddressError, *SocketError, ErrUnsupported.
func (s Socket) Check() (Endpoint, error) {
	fail := func(field, rule string) (Endpoint, error) {
		return Endpoint{}, &SocketError{Pattern: s.Pattern, Field: field, Rule: rule}
	}
	if !s.Pattern.CanSend() && !s.Pattern.CanRecv() {
		return Endpoint{}, fmt.Errorf("%w: %s", ErrUnsupported, s.Pattern)
	}
	switch id := s.Identity; {
	case len(id) == 0:
	case s.Pattern != Dealer && s.Pattern != XSub:
		return fail("Identity", "belongs to a dealer or xsub")
	case len(id) > 255:
		return fail("Identity", fmt.Sprintf("is %d bytes, the limit is 255", len(id)))
	case len(id) == autoIdentity && id[0] == 0:
		return fail("Identity", "of 5 bytes starting with 0 could be one that a router made up")
	}
	switch {
	case s.Handover && s.Pattern != Router:
		return fail("Handover", "belongs to a router")
	case len(s.Topics) > 0 && s.Pattern != Sub:
		return fail("Topics", "belong to a sub; an xsub sends its subscriptions")
	case s.SendQueue < 0:
		return fail("SendQueue", "is negative")
	case s.MaxFrame < 0:
		return fail("MaxFrame", "is negative")
	}
	return ParseEndpoint(s.Endpoint, s.Bind)
}

// Filled returns s with the defaults in place of zero MaxFrame and Linger, and
// 0 for a negative Linger.
func (s Socket) Filled() Socket {
	if s.MaxFrame == 0 {
		s.MaxFrame = DefaultMaxFrame
	}
	switch {
	case s.Linger == 0:
		s.Linger = DefaultLinger
	case s.Linger < 0:
		s.Linger = 0
	}
	return s
}

// errFrames and errShared are the caller's mistakes, so no sentinel is exported.
var (
	errFrames = errors.New("transport: packet has no frames")
	errShared = errors.New("transport: packet's Shared is outside its frames")
)

// Check says what every Send refuses: no frames, Shared out of range, a frame
// over maxFrame (ErrTooLarge). It costs a look at each frame's length.
func (p Packet) Check(maxFrame int64) error {
	switch {
	case len(p.Frames) == 0:
		return errFrames
	case p.Shared < 0 || p.Shared > len(p.Frames):
		return errShared
	}
	for i, f := range p.Frames {
		if int64(len(f)) > maxFrame {
			return fmt.Errorf("%w: frame %d has %d bytes, the limit is %d", ErrTooLarge, i, len(f), maxFrame)
		}
	}
	return nil
}
