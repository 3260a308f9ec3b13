// SPDX-License-Identifier: Apache-2.0

// Package transport is the contract between the pipeline and whatever moves
// its frames: ZeroMQ (transport/zmq), memory (transport/inproc), or a user's
// own. A transport never looks inside a frame. Package transporttest checks any
// implementation against this contract.
package transport

import (
	"context"
	"errors"
	"time"
)

// Pattern is a ZeroMQ socket type, of which the EngineCore protocol uses seven.
type Pattern uint8

// The patterns. An implementation refuses the ones it lacks with ErrUnsupported.
const (
	// Router talks to many Dealers; Packet.Peer is the Dealer's identity, on
	// Send and on Recv. A Send to an identity that is not connected is
	// ErrUnreachable.
	Router Pattern = iota + 1
	// Dealer talks to one Router under Socket.Identity.
	Dealer
	// Push sends to a Pull.
	Push
	// Pull receives from many Pushes, fairly, each in its order.
	Pull
	// XPub sends to every subscriber whose topic is a prefix of the first
	// frame, and receives what XSubs send: subscriptions (0x01 and the topic),
	// their ends (0x00 and the topic), every one of them, and plain messages.
	XPub
	// XSub receives from an XPub after it has sent a subscription itself.
	XSub
	// Sub receives from an XPub on Socket.Topics.
	Sub
)

// Errors of Send, Recv and Open, to be tested with errors.Is.
var (
	// ErrFull says that the peer's queue is full; nothing was sent.
	ErrFull = errors.New("transport: queue full")
	// ErrUnreachable says that no peer of that identity is connected; nothing was sent.
	ErrUnreachable = errors.New("transport: peer unreachable")
	// ErrClosed says that this Conn was closed by its owner.
	ErrClosed = errors.New("transport: connection closed")
	// ErrUnsupported says that the transport lacks the pattern or the address scheme.
	ErrUnsupported = errors.New("transport: unsupported")
	// ErrTooLarge says that a frame to be sent is over Socket.MaxFrame; nothing was sent.
	ErrTooLarge = errors.New("transport: frame too large")
)

// Transport opens connections. Implementations may be called from any goroutine.
type Transport interface {
	// Open binds or connects s. The context bounds opening alone, not the
	// life of the Conn. An address that breaks a rule is an *AddressError.
	Open(ctx context.Context, s Socket) (Conn, error)
}

// Socket says what to open. Only Pattern and Endpoint are required.
type Socket struct {
	Pattern  Pattern
	Endpoint string // "tcp://host:port", "ipc://path", "inproc://name"
	// Bind listens at Endpoint; otherwise the socket connects to it, now or
	// whenever somebody listens there, and again after a break.
	// A bound tcp port of 0 or "*" is chosen by the system.
	Bind bool
	// Identity is a Dealer's or XSub's name, 1 to 255 bytes. Empty lets the
	// Router make one up: 5 bytes that start with 0, which is why a name of that
	// shape is refused. An engine's is its rank as 2 bytes little-endian, so
	// rank 0 is 00 00.
	Identity []byte
	// Handover lets a new connection take an identity over from an old one
	// (ZMQ_ROUTER_HANDOVER). Without it the newcomer is ignored.
	Handover bool
	// Topics are a Sub's subscriptions; none subscribes to nothing.
	Topics [][]byte
	// SendQueue bounds the packets waiting for one peer; Send then is ErrFull.
	// 0 is no bound: the pipeline bounds the work in flight itself.
	SendQueue int
	// MaxFrame is the largest frame in bytes, in either direction; a peer that
	// sends a larger one is disconnected. 0 is DefaultMaxFrame.
	MaxFrame int64
	// Linger is how long Close may go on delivering what was sent.
	// 0 is DefaultLinger; negative drops it at once.
	Linger time.Duration
}

// Defaults of Socket.
const (
	DefaultMaxFrame = 1 << 30 // bytes
	DefaultLinger   = 500 * time.Millisecond
)

// Conn carries packets. One goroutine may Send while another is in Recv; more
// than one sender, or more than one receiver, at a time is the caller's error.
// Close and Endpoint may be called from any goroutine at any time.
type Conn interface {
	// Send hands p over and never blocks. It does not keep the frames before
	// p.Shared; the others belong to nobody any more and are never written.
	// Errors: ErrFull, ErrUnreachable, ErrTooLarge, ErrClosed.
	Send(p Packet) error
	// Recv waits for a packet, the context or Close. The caller owns the
	// frames before Packet.Shared. Errors: the context's cause, ErrClosed.
	Recv(ctx context.Context) (Packet, error)
	// Endpoint is the resolved address, as a peer must dial it.
	Endpoint() string
	// Close gives the connection back, after Socket.Linger at most; Send and
	// Recv then return ErrClosed, a Recv that is waiting too. Idempotent.
	Close() error
}

// Packet is one message of one or more frames. It is passed by value.
type Packet struct {
	// Peer is the identity of the Router's other side; empty elsewhere.
	Peer string
	// Frames are the parts of the message, without the identity.
	Frames [][]byte
	// Shared is the index of the first shared frame: frames from here on
	// (tensors) are read-only for everyone from Send on, so that memory
	// transports pass them by reference. len(Frames) shares none, 0 all.
	Shared int
}
