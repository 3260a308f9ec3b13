// SPDX-License-Identifier: Apache-2.0

package inproc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// pair is a router and a dealer of one network, and the faults between them.
type pair struct {
	t              *testing.T
	network        *inproc.Network
	router, dealer transport.Conn
	faults         *inproc.Faults
}

func newPair(t *testing.T, edit func(*transport.Socket)) *pair {
	t.Helper()
	p := &pair{t: t, network: new(inproc.Network)}
	open := func(s transport.Socket) transport.Conn {
		if edit != nil {
			edit(&s)
		}
		c, err := p.network.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	p.router = open(transport.Socket{Pattern: transport.Router, Endpoint: "tcp://*:0", Bind: true})
	p.dealer = open(transport.Socket{Pattern: transport.Dealer, Endpoint: p.router.Endpoint(), Identity: []byte("e")})
	var err error
	if p.faults, err = p.network.Faults(p.router.Endpoint()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) send(c transport.Conn, text string) {
	p.t.Helper()
	if err := c.Send(transport.Packet{Peer: "e", Frames: [][]byte{[]byte(text)}, Shared: 1}); err != nil {
		p.t.Fatalf("send %q: %v", text, err)
	}
}

func (p *pair) want(c transport.Conn, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		got, err := c.Recv(p.t.Context())
		if err != nil || string(got.Frames[0]) != text {
			p.t.Fatalf("received %q, %v; want %q", got.Frames, err, text)
		}
	}
}

// silent checks that nothing arrives for d.
func (p *pair) silent(c transport.Conn, d time.Duration) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), d)
	defer cancel()
	if got, err := c.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		p.t.Fatalf("received %q, %v; want silence", got.Frames, err)
	}
}

func TestADelayKeepsTheOrderAndWorksBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, nil)
		began := time.Now()
		p.faults.Delay(time.Minute)
		p.send(p.dealer, "one")
		p.send(p.router, "down")
		p.faults.Delay(0)
		p.send(p.dealer, "two") // not before one
		p.silent(p.router, 59*time.Second)
		p.want(p.router, "one", "two")
		p.want(p.dealer, "down")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("arrived after %v, want a minute", took)
		}
		p.send(p.dealer, "three")
		p.want(p.router, "three")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the delay is still on after %v", took)
		}
	})
}

func TestAStallHoldsEverythingUntilReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(s *transport.Socket) { s.SendQueue = 2 })
		p.faults.Stall()
		p.send(p.dealer, "one")
		p.send(p.dealer, "two")
		if err := p.dealer.Send(transport.Packet{Frames: [][]byte{{3}}}); !errors.Is(err, transport.ErrFull) {
			t.Errorf("send into a stalled queue that is full: %v", err)
		}
		p.silent(p.router, time.Hour)
		p.faults.Release()
		p.want(p.router, "one", "two")
		p.send(p.dealer, "three")
		p.want(p.router, "three")
	})
}

func TestDropSeesThePeerAndLosesWhatItMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, nil)
		p.faults.Drop(func(q transport.Packet) bool { return q.Peer == "e" && string(q.Frames[0]) == "lost" })
		for _, c := range []transport.Conn{p.dealer, p.router} {
			p.send(c, "lost")
			p.send(c, "kept")
		}
		p.want(p.router, "kept")
		p.want(p.dealer, "kept")
		p.faults.Drop(nil)
		p.send(p.dealer, "lost")
		p.want(p.router, "lost")
	})
}

func TestADisconnectedPeerIsUnreachableUntilItComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, nil)
		to := transport.Packet{Peer: "e", Frames: [][]byte{[]byte("x")}}
		if n := p.faults.Disconnect("somebody else", 0); n != 0 {
			t.Errorf("disconnected %d of another name", n)
		}
		if n := p.faults.Disconnect("e", time.Second); n != 1 {
			t.Errorf("disconnected %d, want 1", n)
		}
		p.send(p.dealer, "meanwhile") // waits, as with ZeroMQ
		if err := p.router.Send(to); !errors.Is(err, transport.ErrUnreachable) {
			t.Errorf("send to who is away: %v", err)
		}
		p.silent(p.router, 999*time.Millisecond)
		p.want(p.router, "meanwhile")
		p.send(p.router, "welcome")
		p.want(p.dealer, "welcome")

		p.faults.Disconnect("", -1)
		p.silent(p.router, time.Hour)
		if err := p.router.Send(to); !errors.Is(err, transport.ErrUnreachable) {
			t.Errorf("send to who stays away: %v", err)
		}
		if n := p.faults.Reconnect("e"); n != 1 {
			t.Errorf("brought back %d, want 1", n)
		}
		p.send(p.router, "again")
		p.want(p.dealer, "again")
	})
}

func TestADisconnectLosesWhatIsInTransit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, nil)
		p.send(p.dealer, "arrived")
		p.faults.Stall()
		p.send(p.dealer, "in transit")
		p.faults.Disconnect("", 0)
		p.faults.Release()
		p.want(p.router, "arrived")
		p.silent(p.router, time.Hour)
	})
}

func TestARequestIsAnsweredInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, nil)
		go func() {
			for range 100 {
				q, err := p.dealer.Recv(context.Background())
				if err != nil || p.dealer.Send(q) != nil {
					return
				}
			}
		}()
		for range 100 {
			p.send(p.router, "ping")
			p.want(p.router, "ping")
		}
	})
}
