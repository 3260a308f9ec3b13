// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/corepipe/corepipe/transport"
)

// freed returns an address that was bound a moment ago and can be again.
func (k kit) freed() string {
	k.Helper()
	c := k.bind(transport.Socket{Pattern: transport.Pull})
	k.close(c)
	return c.Endpoint()
}

func connectFirst(k kit) {
	at := k.freed()
	dealer := k.open(transport.Socket{Pattern: transport.Dealer, Endpoint: at, Identity: rank(0)})
	k.send(dealer, "", "early")
	router := k.open(transport.Socket{Pattern: transport.Router, Endpoint: at, Bind: true})
	k.want(router, string(rank(0)), "early")
	k.send(router, string(rank(0)), "reply")
	k.want(dealer, "", "reply")

	at = k.freed()
	push := k.open(transport.Socket{Pattern: transport.Push, Endpoint: at})
	k.send(push, "", "early")
	pull := k.open(transport.Socket{Pattern: transport.Pull, Endpoint: at, Bind: true})
	k.want(pull, "", "early")

	at = k.freed()
	sub := k.open(transport.Socket{Pattern: transport.Sub, Endpoint: at, Topics: [][]byte{[]byte("t")}})
	pub := k.open(transport.Socket{Pattern: transport.XPub, Endpoint: at, Bind: true})
	k.want(pub, "", "\x01t")
	k.send(pub, "", "t1")
	k.want(sub, "", "t1")
}

// rebind: a router that comes back can address a dealer that says nothing more.
func rebind(k kit) {
	if k.h.NoReconnect {
		k.Skip("the transport does not reconnect")
	}
	router := k.bind(transport.Socket{Pattern: transport.Router})
	at := router.Endpoint()
	dealer := k.dealer(router, rank(0))
	for range 3 {
		k.close(router)
		router = k.open(transport.Socket{Pattern: transport.Router, Endpoint: at, Bind: true})
		k.eventually("the dealer is reachable again", func() bool {
			return router.Send(packet(string(rank(0)), "again")) == nil
		})
		k.want(dealer, "", "again")
		k.send(dealer, "", "yes")
		k.want(router, string(rank(0)), "yes")
	}
	pub := k.bind(transport.Socket{Pattern: transport.XPub})
	sub := k.dial(pub, transport.Socket{Pattern: transport.XSub})
	k.send(sub, "", "\x01n")
	k.want(pub, "", "\x01n")
	k.close(pub)
	pub = k.open(transport.Socket{Pattern: transport.XPub, Endpoint: pub.Endpoint(), Bind: true})
	// The subscription comes again by itself; with ZeroMQ it takes a subscriber
	// that is in Recv to notice.
	k.run(k.expect(sub, 1), func(ctx context.Context, _ *atomic.Int64) error {
		p, err := pub.Recv(ctx)
		if err != nil || string(p.Frames[0]) != "\x01n" {
			return fmt.Errorf("subscription after a restart: got %q, %w", p.Frames, err)
		}
		return pub.Send(packet("", string(number(0))))
	})
}

func bindAgain(k kit) {
	at := k.freed()
	for range 20 {
		router := k.open(transport.Socket{Pattern: transport.Router, Endpoint: at, Bind: true})
		dealer := k.dealer(router, rank(0))
		k.close(dealer) // or it would be back at the next router first
		k.close(router)
	}
}

func bindTwice(k kit) {
	first := k.bind(transport.Socket{Pattern: transport.Router})
	_, err := k.h.Transport.Open(context.Background(),
		transport.Socket{Pattern: transport.Router, Endpoint: first.Endpoint(), Bind: true})
	k.is(err, transport.ErrInUse, "second bind")
	var address *transport.AddressError
	if !errors.As(err, &address) || address.Address != first.Endpoint() {
		k.Fatalf("second bind: error %v does not name the address", err)
	}
	k.dealer(first, rank(0)) // the first one is none the worse
}

func refused(k kit) {
	at := k.h.Address(k)
	long := []byte(strings.Repeat("x", 256))
	for _, s := range []transport.Socket{
		{Pattern: 0}, {Pattern: 99},
		{Pattern: transport.Dealer, Identity: long},
		{Pattern: transport.Dealer, Identity: []byte{0, 1, 2, 3, 4}},
		{Pattern: transport.Pull, Identity: []byte("x")},
		{Pattern: transport.Dealer, Handover: true},
		{Pattern: transport.XSub, Topics: [][]byte{nil}},
		{Pattern: transport.Push, SendQueue: -1},
		{Pattern: transport.Push, MaxFrame: -1},
	} {
		s.Endpoint, s.Bind = at, true
		if c, err := k.h.Transport.Open(context.Background(), s); err == nil {
			c.Close()
			k.Errorf("opened %+v", s)
		}
	}
	for _, bad := range []string{
		"", "x", "udp://x", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:99999",
		"tcp://::1:5000", "ipc://", "inproc://", "ipc:///tmp/" + strings.Repeat("x", 120), "ipc:///tmp/a\x00b",
	} {
		_, err := k.h.Transport.Open(context.Background(), transport.Socket{Pattern: transport.Pull, Endpoint: bad, Bind: true})
		if _, ok := errors.AsType[*transport.AddressError](err); !ok {
			k.Errorf("bind %q: got error %v, want an AddressError", bad, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := k.h.Transport.Open(ctx, transport.Socket{Pattern: transport.Pull, Endpoint: at, Bind: true})
	k.is(err, context.Canceled, "open with a done context")
}
