// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corepipe/corepipe/transport"
)

// errStalled ends a run in which nothing moves any more.
var errStalled = errors.New("nothing moved: a wake-up was lost")

// run runs the parts at once and fails the test when one fails or when the
// counter that they share stands still for Patience. A part ends with its ctx.
func (k kit) run(parts ...func(ctx context.Context, moved *atomic.Int64) error) {
	k.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var moved atomic.Int64
	var wg sync.WaitGroup
	for _, part := range parts {
		wg.Go(func() {
			if err := part(ctx, &moved); err != nil {
				cancel(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(k.h.Patience)
	defer tick.Stop()
	for last := int64(-1); ; {
		select {
		case <-done:
			if err := context.Cause(ctx); err != nil {
				k.Fatalf("after %d packets: %v", moved.Load(), err)
			}
			return
		case <-tick.C:
			now := moved.Load()
			if now == last {
				cancel(errStalled)
			}
			last = now
		}
	}
}

// number makes and reads a numbered frame. It starts with a byte that is no
// subscription.
func number(i int) []byte {
	return binary.BigEndian.AppendUint64([]byte{'n'}, uint64(i))
}

func (k kit) expect(c transport.Conn, n int) func(context.Context, *atomic.Int64) error {
	return func(ctx context.Context, moved *atomic.Int64) error {
		for i := range n {
			p, err := c.Recv(ctx)
			if err != nil {
				return fmt.Errorf("receive %d: %w", i, err)
			}
			if len(p.Frames) != 1 || string(p.Frames[0]) != string(number(i)) {
				return fmt.Errorf("packet %d out of order: %q", i, p.Frames)
			}
			moved.Add(1)
		}
		return nil
	}
}

// bursts sends n packets in bursts of random length with gaps in between.
func (k kit) bursts(c transport.Conn, peer string, n int) func(context.Context, *atomic.Int64) error {
	return func(ctx context.Context, moved *atomic.Int64) error {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		for i, left := 0, 0; i < n; i, left = i+1, left-1 {
			if left == 0 {
				left = 1 + random.IntN(64)
				for range random.IntN(8) {
					runtime.Gosched()
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := c.Send(transport.Packet{Peer: peer, Frames: [][]byte{number(i)}, Shared: 1}); err != nil {
				return fmt.Errorf("send %d: %w", i, err)
			}
		}
		return nil
	}
}

func wakeRouter(k kit) {
	l := k.connect(route{"", transport.Router, transport.Dealer, true}, nil)
	n := k.h.Messages
	k.run(k.bursts(l.from, l.peer, n), k.expect(l.to, n), k.bursts(l.to, "", n), k.expect(l.from, n))
}

func wakePub(k kit) {
	l := k.connect(route{"", transport.XPub, transport.XSub, true}, nil)
	n := k.h.Messages / 2
	k.run(k.bursts(l.from, "", n), k.expect(l.to, n), k.bursts(l.to, "", n), k.expect(l.from, n))
}

func wakePush(k kit) {
	l := k.connect(route{"", transport.Push, transport.Pull, false}, nil)
	n := k.h.Messages / 2
	k.run(k.bursts(l.from, "", n), k.expect(l.to, n))
}

// wakeReply keeps a window of requests under way, so that every packet sent
// meets a receiver that has just begun to wait.
func wakeReply(k kit) {
	for window := 1; window <= 64; window *= 4 {
		l := k.connect(route{"", transport.Router, transport.Dealer, true}, nil)
		n := k.h.Messages / 16
		credit, echo := make(chan struct{}, window), make(chan []byte, window)
		k.run(
			func(ctx context.Context, _ *atomic.Int64) error {
				for i := range n {
					select {
					case credit <- struct{}{}:
					case <-ctx.Done():
						return context.Cause(ctx)
					}
					if err := l.from.Send(transport.Packet{Peer: l.peer, Frames: [][]byte{number(i)}, Shared: 1}); err != nil {
						return fmt.Errorf("request %d: %w", i, err)
					}
				}
				return nil
			},
			func(ctx context.Context, _ *atomic.Int64) error {
				defer close(echo)
				for i := range n {
					p, err := l.to.Recv(ctx)
					if err != nil {
						return fmt.Errorf("receive request %d: %w", i, err)
					}
					echo <- p.Frames[0] // has room: window bounds what is under way
				}
				return nil
			},
			func(context.Context, *atomic.Int64) error {
				for f := range echo {
					if err := l.to.Send(transport.Packet{Frames: [][]byte{f}, Shared: 1}); err != nil {
						return fmt.Errorf("reply: %w", err)
					}
				}
				return nil
			},
			func(ctx context.Context, moved *atomic.Int64) error {
				for i := range n {
					p, err := l.from.Recv(ctx)
					if err != nil {
						return fmt.Errorf("receive reply %d: %w", i, err)
					}
					if string(p.Frames[0]) != string(number(i)) {
						return fmt.Errorf("reply %d out of order: %q", i, p.Frames)
					}
					moved.Add(1)
					<-credit
				}
				return nil
			},
		)
	}
}
