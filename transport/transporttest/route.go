// SPDX-License-Identifier: Apache-2.0

package transporttest

import "github.com/corepipe/corepipe/transport"

// route is a way for packets from one socket to another.
type route struct {
	name     string
	from, to transport.Pattern
	bindFrom bool
}

// routes are all that the protocol uses.
func routes() []route {
	return []route{
		{"dealer to router", transport.Dealer, transport.Router, false},
		{"router to dealer", transport.Router, transport.Dealer, true},
		{"push to pull", transport.Push, transport.Pull, false},
		{"bound push to pull", transport.Push, transport.Pull, true},
		{"xpub to sub", transport.XPub, transport.Sub, true},
		{"xpub to xsub", transport.XPub, transport.XSub, true},
		{"xsub to xpub", transport.XSub, transport.XPub, false},
	}
}

// rank1 is an engine's identity.
const rank1 = "\x01\x00"

// line is an open route. peer is what from must name, and origin what to sees.
type line struct {
	from, to     transport.Conn
	peer, origin string
}

// connect opens a route and waits until packets get through it.
func (k kit) connect(r route, edit func(*transport.Socket)) line {
	k.Helper()
	socket := func(p transport.Pattern) transport.Socket {
		s := transport.Socket{Pattern: p}
		switch p {
		case transport.Dealer:
			s.Identity = []byte(rank1)
		case transport.Sub:
			s.Topics = [][]byte{{}}
		}
		if edit != nil {
			edit(&s)
		}
		return s
	}
	var l line
	if r.bindFrom {
		l.from = k.bind(socket(r.from))
		l.to = k.dial(l.from, socket(r.to))
	} else {
		l.to = k.bind(socket(r.to))
		l.from = k.dial(l.to, socket(r.from))
	}
	switch {
	case r.from == transport.Router:
		l.peer = rank1
		k.send(l.to, "", "ready")
		k.want(l.from, rank1, "ready")
	case r.to == transport.Router:
		l.origin = rank1
	case r.from == transport.XPub && r.to == transport.XSub:
		k.send(l.to, "", "\x01")
		k.want(l.from, "", "\x01")
	case r.from == transport.XPub:
		k.want(l.from, "", "\x01")
	case r.from == transport.XSub:
		k.send(l.from, "", "\x01") // what it sends before it is connected is lost
		k.want(l.to, "", "\x01")
	case r.bindFrom: // a bound push is full until its peer is there
		k.eventually("push has a peer", func() bool { return l.from.Send(packet("", "hello")) == nil })
		k.want(l.to, "", "hello")
	}
	return l
}
