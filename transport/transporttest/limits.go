// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/corepipe/corepipe/transport"
)

// sendQueue fills a queue, then empties it: what was accepted arrives. How many
// fit is the transport's; buffers on the way count in.
func sendQueue(k kit) {
	const limit, most = 16, 100_000
	body := strings.Repeat("b", 4096)
	for _, r := range routes()[:6] {
		l := k.connect(r, func(s *transport.Socket) { s.SendQueue = limit })
		k.Log(r.name)
		sent := 0
		var err error
		for ; sent < most && err == nil; sent++ {
			err = l.from.Send(packet(l.peer, fmt.Sprint(sent), body))
		}
		k.is(err, transport.ErrFull, fmt.Sprintf("send %d into a queue of %d", sent, limit))
		sent--
		if sent < limit/2 { // libzmq counts some that have left already
			k.Fatalf("full after %d packets, the limit is %d", sent, limit)
		}
		for i := range sent {
			k.want(l.to, l.origin, fmt.Sprint(i), body)
		}
		k.eventually("there is room again", func() bool { return l.from.Send(packet(l.peer, "more")) == nil })
		k.want(l.to, l.origin, "more")
	}
	// Nobody listens: the queue is our own.
	push := k.open(transport.Socket{Pattern: transport.Push, Endpoint: k.freed(), SendQueue: limit, Linger: -1})
	for range limit {
		k.send(push, "", "waits")
	}
	k.is(push.Send(packet("", "one too many")), transport.ErrFull, "send into a full queue without a listener")
}

func boundWithoutPeers(k kit) {
	for _, p := range []transport.Pattern{transport.Push, transport.Dealer} {
		c := k.bind(transport.Socket{Pattern: p})
		k.is(c.Send(packet("", "x")), transport.ErrFull, "send of a bound "+p.String())
	}
	pub := k.bind(transport.Socket{Pattern: transport.XPub})
	k.send(pub, "", "to nobody") // no error: a publisher has no peers to wait for
}

func tooLarge(k kit) {
	const limit = 1000
	for _, r := range routes() {
		l := k.connect(r, func(s *transport.Socket) { s.MaxFrame = limit })
		fits := strings.Repeat("f", limit)
		k.is(l.from.Send(packet(l.peer, "head", fits+"f")), transport.ErrTooLarge, r.name)
		k.send(l.from, l.peer, "head", fits)
		k.want(l.to, l.origin, "head", fits)
		if l.from.Send(transport.Packet{Peer: l.peer}) == nil {
			k.Fatal("sent a packet without frames")
		}
		if l.from.Send(transport.Packet{Peer: l.peer, Frames: [][]byte{{1}}, Shared: 2}) == nil {
			k.Fatal("sent a packet whose Shared is outside its frames")
		}
	}
	pull, push := k.bind(transport.Socket{Pattern: transport.Pull}), k.bind(transport.Socket{Pattern: transport.Push})
	k.is(pull.Send(packet("", "x")), transport.ErrUnsupported, "send of a pull")
	_, err := push.Recv(context.Background())
	k.is(err, transport.ErrUnsupported, "receive of a push")
}

// cutOff: the frame is lost, the connection breaks and comes back. Handover is
// on because the old connection may have the identity still.
func cutOff(k kit) {
	if k.h.NoFrameLimit || k.h.NoReconnect {
		k.Skip("the transport has no limit on the receiver's side")
	}
	router := k.bind(transport.Socket{Pattern: transport.Router, MaxFrame: 1000, Handover: true})
	other := k.dealer(router, rank(1))
	bad := k.dial(router, transport.Socket{Pattern: transport.Dealer, Identity: rank(0), SendQueue: 100})
	k.send(bad, "", "ready")
	k.want(router, string(rank(0)), "ready")
	k.send(bad, "", strings.Repeat("f", 1001))
	k.send(other, "", "unharmed")
	k.want(router, string(rank(1)), "unharmed")
	// What follows at once may be lost with the connection, so it is repeated.
	heard := make(chan struct{})
	k.run(func(ctx context.Context, _ *atomic.Int64) error {
		defer close(heard)
		p, err := router.Recv(ctx)
		if err != nil {
			return fmt.Errorf("the peer did not come back: %w", err)
		}
		return same(p, packet(string(rank(0)), "small"))
	}, func(ctx context.Context, _ *atomic.Int64) error {
		for {
			select {
			case <-heard:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			default:
				if err := bad.Send(packet("", "small")); err != nil && !errors.Is(err, transport.ErrFull) {
					return err
				}
				runtime.Gosched()
			}
		}
	})
	k.send(router, string(rank(0)), "back")
	k.want(bad, "", "back")
}
