// SPDX-License-Identifier: Apache-2.0

package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/corepipe/corepipe/transport"
)

// rounds is how often the cases about Close repeat: the races are narrow.
const rounds = 100

// closers is how many goroutines call Close at once.
const closers = 8

// closeWaiting closes from many goroutines while one waits in Recv.
func closeWaiting(k kit) {
	for _, pattern := range []transport.Pattern{transport.Router, transport.Pull, transport.XPub} {
		for range rounds / 2 {
			c := k.bind(transport.Socket{Pattern: pattern})
			var waits sync.WaitGroup
			waits.Add(1)
			k.run(func(ctx context.Context, _ *atomic.Int64) error {
				waits.Done()
				if _, err := c.Recv(ctx); !errors.Is(err, transport.ErrClosed) {
					return fmt.Errorf("a receive that waited for Close got %w", err)
				}
				return nil
			}, func(context.Context, *atomic.Int64) error {
				waits.Wait()
				return closeAll(c)
			})
		}
	}
}

// closeAll calls Close from many goroutines at once.
func closeAll(c transport.Conn) error {
	errs := make([]error, closers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = c.Close()
			_ = c.Endpoint()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// closeRacing closes both sides while both send and receive.
func closeRacing(k kit) {
	until := func(c transport.Conn, peer string) func(context.Context, *atomic.Int64) error {
		return func(_ context.Context, moved *atomic.Int64) error {
			for i := 0; ; i++ {
				err := c.Send(transport.Packet{Peer: peer, Frames: [][]byte{number(i)}, Shared: 1})
				switch {
				case errors.Is(err, transport.ErrClosed):
					return nil
				case err != nil && !errors.Is(err, transport.ErrUnreachable) && !errors.Is(err, transport.ErrFull):
					return fmt.Errorf("send against close: %w", err)
				}
				moved.Add(1)
			}
		}
	}
	drain := func(c transport.Conn, started chan<- struct{}) func(context.Context, *atomic.Int64) error {
		return func(ctx context.Context, moved *atomic.Int64) error {
			close(started)
			for {
				_, err := c.Recv(ctx)
				if errors.Is(err, transport.ErrClosed) {
					return nil
				}
				if err != nil {
					return fmt.Errorf("receive against close: %w", err)
				}
				moved.Add(1)
			}
		}
	}
	for range rounds / 2 {
		l := k.connect(route{"", transport.Router, transport.Dealer, true}, func(s *transport.Socket) {
			s.SendQueue = 100 // a sender that nobody stops would fill the memory
			s.Linger = -1
		})
		one, two := make(chan struct{}), make(chan struct{})
		k.run(
			until(l.from, l.peer), until(l.to, ""), drain(l.from, one), drain(l.to, two),
			func(context.Context, *atomic.Int64) error { <-one; return closeAll(l.from) },
			func(context.Context, *atomic.Int64) error { <-two; return closeAll(l.to) },
		)
	}
}

func closeAfter(k kit) {
	for _, r := range routes() {
		l := k.connect(r, nil)
		for _, c := range []transport.Conn{l.from, l.to} {
			at := c.Endpoint()
			k.close(c)
			k.close(c)
			if c.Endpoint() != at {
				k.Fatalf("endpoint was %q and is %q after close", at, c.Endpoint())
			}
		}
		k.is(l.from.Send(packet(l.peer, "late")), transport.ErrClosed, r.name+": send after close")
		_, err := l.to.Recv(context.Background())
		k.is(err, transport.ErrClosed, r.name+": receive after close")
	}
}

func contextDone(k kit) {
	cause := errors.New("the test's own cause")
	for _, r := range routes() {
		l := k.connect(r, nil)
		k.Log(r.name)
		for i := range 20 {
			ctx, cancel := context.WithCancelCause(context.Background())
			k.run(func(context.Context, *atomic.Int64) error {
				if _, err := l.to.Recv(ctx); !errors.Is(err, cause) {
					return fmt.Errorf("a receive whose context ended got %w", err)
				}
				return nil
			}, func(context.Context, *atomic.Int64) error {
				cancel(cause)
				return nil
			})
			k.send(l.from, l.peer, "after", fmt.Sprint(i))
			if _, err := l.to.Recv(ctx); !errors.Is(err, cause) {
				k.Fatalf("a receive on a done context got %v", err)
			}
			k.want(l.to, l.origin, "after", fmt.Sprint(i))
		}
	}
}
