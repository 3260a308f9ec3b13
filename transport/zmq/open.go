// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package zmq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/pebbe/zmq4"
)

// Open binds or connects a socket; it does not wait for a peer. Names are
// resolved by libzmq when it connects, so a wrong name shows as silence.
// Binding takes an address, an interface name or *, not a host name.
//
// An ipc path is refused when something listens there, or when it is anything
// but a socket; the file of a listener that died is replaced. libzmq itself
// would delete the file in all three cases.
func (t *Transport) Open(ctx context.Context, s transport.Socket) (transport.Conn, error) {
	at, err := s.Check()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("zmq: open %s: %w", s.Endpoint, context.Cause(ctx))
	}
	s = s.Filled()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.zctx == nil {
		return nil, fmt.Errorf("zmq: open %s: %w", s.Endpoint, errMadeByHand)
	}
	if t.closed {
		return nil, fmt.Errorf("zmq: open %s: transport: %w", s.Endpoint, transport.ErrClosed)
	}
	soc, err := t.zctx.NewSocket(zmqType(s.Pattern))
	if err != nil {
		return nil, fmt.Errorf("zmq: new %s socket: %w", s.Pattern, err)
	}
	c, err := open(soc, s, at)
	if err != nil {
		_ = soc.SetLinger(0) // nothing was sent
		_ = soc.Close()
		return nil, err
	}
	c.t = t
	t.conns[c] = struct{}{}
	t.linger = max(t.linger, s.Linger)
	return c, nil
}

// open sets soc up. On an error the caller closes soc.
func open(soc *zmq4.Socket, s transport.Socket, at transport.Endpoint) (*conn, error) {
	c := &conn{
		pattern: s.Pattern, router: s.Pattern == transport.Router,
		maxFrame: s.MaxFrame, soc: soc, done: make(chan struct{}),
	}
	c.step = c.tryPark
	if err := setOptions(soc, s, at); err != nil {
		return nil, fmt.Errorf("zmq: options of %s socket: %w", s.Pattern, err)
	}
	var err error
	if c.wait, err = newWaiter(soc); err != nil {
		return nil, err
	}
	if s.Bind {
		c.bound, c.endpoint, err = bind(soc, s.Endpoint, at)
	} else if c.endpoint, err = s.Endpoint, soc.Connect(s.Endpoint); err != nil {
		err = &transport.AddressError{Address: s.Endpoint, Rule: "connect: " + err.Error(), Err: err}
	}
	if err != nil {
		_ = c.wait.close()
		return nil, err
	}
	_, c.file = socketFile(c.bound)
	return c, nil
}

// zmqType translates a pattern that Socket.Check has passed.
func zmqType(p transport.Pattern) zmq4.Type {
	switch p {
	case transport.Router:
		return zmq4.ROUTER
	case transport.Dealer:
		return zmq4.DEALER
	case transport.Push:
		return zmq4.PUSH
	case transport.Pull:
		return zmq4.PULL
	case transport.XPub:
		return zmq4.XPUB
	case transport.XSub:
		return zmq4.XSUB
	default:
		return zmq4.SUB
	}
}

// setOptions sets everything that must be set before bind or connect.
func setOptions(soc *zmq4.Socket, s transport.Socket, at transport.Endpoint) error {
	errs := []error{
		// 0 is no limit. libzmq reads ahead into the receiver's queue, so a bound
		// on one side alone would bound nothing.
		soc.SetSndhwm(s.SendQueue), soc.SetRcvhwm(s.SendQueue),
		soc.SetMaxmsgsize(s.MaxFrame),
		soc.SetLinger(ceilMillisecond(s.Linger)),
	}
	if at.IPv6 { // without it a connect succeeds and never connects
		errs = append(errs, soc.SetIpv6(true))
	}
	if len(s.Identity) > 0 {
		errs = append(errs, soc.SetIdentity(string(s.Identity)))
	}
	switch s.Pattern {
	case transport.Router:
		// Without it a packet to nobody is a success.
		errs = append(errs, soc.SetRouterMandatory(1), soc.SetRouterHandover(s.Handover))
	case transport.XPub:
		// Every subscription and every end is reported, and a full queue is
		// ErrFull instead of a loss.
		errs = append(errs, soc.SetXpubVerboser(1), soc.SetXpubNodrop(true))
	case transport.Sub:
		for _, topic := range s.Topics {
			errs = append(errs, soc.SetSubscribe(string(topic)))
		}
	}
	return errors.Join(errs...)
}

// ceilMillisecond rounds up, because libzmq's unit would cut 0.9 ms to nothing.
func ceilMillisecond(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// bind listens and returns libzmq's name of the address, to unbind it by, and
// the one that a peer must dial.
func bind(soc *zmq4.Socket, address string, at transport.Endpoint) (bound, endpoint string, err error) {
	if at.Scheme == "ipc" {
		if err := checkPath(address, at.Path); err != nil {
			return "", "", err
		}
	}
	if err := soc.Bind(address); err != nil {
		e := &transport.AddressError{Address: address, Rule: "bind: " + err.Error(), Err: err}
		switch zmq4.AsErrno(err) {
		case zmq4.EADDRINUSE:
			e.Rule, e.Err = "address in use", transport.ErrInUse
		case zmq4.Errno(syscall.ENODEV):
			e.Rule = "bind takes an address, an interface name or *: " + err.Error()
		}
		return "", "", e
	}
	if bound, err = soc.GetLastEndpoint(); err != nil {
		return "", "", fmt.Errorf("zmq: resolve %s: %w", address, err)
	}
	bound = strings.TrimRight(bound, "\x00")
	return bound, dialable(bound), nil
}

// dialable names the loopback address for a socket bound to every interface:
// it reaches the socket from this machine. Elsewhere the port stands and the
// host is the caller's to know.
func dialable(bound string) string {
	e, err := transport.ParseEndpoint(bound, true)
	if err != nil || e.Scheme != "tcp" || !e.Any() {
		return bound
	}
	return e.Loopback().String()
}
