// SPDX-License-Identifier: Apache-2.0

package transporttest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
	"github.com/corepipe/corepipe/transport/transporttest"
)

// faulty wraps the memory transport and breaks one point of the contract.
type faulty struct {
	inproc.Network
	breaks func(transport.Conn) transport.Conn
}

func (f *faulty) Open(ctx context.Context, s transport.Socket) (transport.Conn, error) {
	c, err := f.Network.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	return f.breaks(c), nil
}

// recorder takes a case's failure instead of failing the test.
type recorder struct {
	testing.TB
	failed   atomic.Bool
	cleanups []func()
}

func (r *recorder) Helper()               {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(string, ...any) { r.failed.Store(true) }
func (r *recorder) Fatal(...any)          { r.failed.Store(true); runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed.Store(true); runtime.Goexit() }

// fails reports whether the suite's case notices what breaks does.
func fails(t *testing.T, name string, breaks func(transport.Conn) transport.Conn) bool {
	t.Helper()
	for _, c := range transporttest.Cases() {
		if c.Name != name {
			continue
		}
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { // as after a test: last opened, first closed
				for _, v := range slices.Backward(r.cleanups) {
					v()
				}
			}()
			c.Run(r, transporttest.Harness{
				Transport: &faulty{breaks: breaks},
				Address:   func(testing.TB) string { return "tcp://127.0.0.1:0" },
				Messages:  2000, Patience: 100 * time.Millisecond,
			})
		}()
		<-done
		return r.failed.Load()
	}
	t.Fatalf("no case is called %q", name)
	return false
}

// conn breaks what its fields say.
type conn struct {
	transport.Conn
	send func(transport.Packet) error
	recv func(context.Context) (transport.Packet, error)
}

func (c *conn) Send(p transport.Packet) error {
	if c.send != nil {
		return c.send(p)
	}
	return c.Conn.Send(p)
}

func (c *conn) Recv(ctx context.Context) (transport.Packet, error) {
	if c.recv != nil {
		return c.recv(ctx)
	}
	return c.Conn.Recv(ctx)
}

func TestSuiteNoticesABrokenTransport(t *testing.T) {
	for _, test := range []struct {
		name, noticed string
		breaks        func(transport.Conn) transport.Conn
	}{
		{"a wake-up is lost", "no wake-up is lost in request and reply", func(c transport.Conn) transport.Conn {
			received := 0
			return &conn{Conn: c, recv: func(ctx context.Context) (transport.Packet, error) {
				if received++; received == 50 {
					<-ctx.Done() // sleeps on although a packet is there
				}
				return c.Recv(ctx)
			}}
		}},
		{"a packet is lost", "packets arrive whole and in order", func(c transport.Conn) transport.Conn {
			sent := 0
			return &conn{Conn: c, send: func(p transport.Packet) error {
				if sent++; sent == 500 {
					return nil
				}
				return c.Send(p)
			}}
		}},
		{"frames are kept by reference", "frames before Shared belong to the receiver", func(c transport.Conn) transport.Conn {
			return &conn{Conn: c, send: func(p transport.Packet) error {
				p.Shared = 0
				return c.Send(p)
			}}
		}},
		{"an unknown peer is a success", "an unknown peer is unreachable and costs nobody else", func(c transport.Conn) transport.Conn {
			return &conn{Conn: c, send: func(p transport.Packet) error {
				if err := c.Send(p); !errors.Is(err, transport.ErrUnreachable) {
					return err
				}
				return nil
			}}
		}},
		{"the frame after a refused identity is taken for one", "an unknown peer is unreachable and costs nobody else", func(c transport.Conn) transport.Conn {
			return &conn{Conn: c, send: func(p transport.Packet) error {
				err := c.Send(p)
				if errors.Is(err, transport.ErrUnreachable) && len(p.Frames) > 1 {
					_ = c.Send(transport.Packet{Peer: string(p.Frames[0]), Frames: p.Frames[1:], Shared: p.Shared - 1})
				}
				return err
			}}
		}},
		{"a full queue drops", "a full queue is an error and loses nothing", func(c transport.Conn) transport.Conn {
			return &conn{Conn: c, send: func(p transport.Packet) error {
				if err := c.Send(p); !errors.Is(err, transport.ErrFull) {
					return err
				}
				return nil
			}}
		}},
		{"a context does not end a receive", "a done context ends a receive and not the connection", func(c transport.Conn) transport.Conn {
			return &conn{Conn: c, recv: func(ctx context.Context) (transport.Packet, error) {
				p, err := c.Recv(ctx)
				if err != nil && ctx.Err() != nil {
					err = errors.New("interrupted")
				}
				return p, err
			}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if fails(t, test.noticed, func(c transport.Conn) transport.Conn { return c }) {
				t.Fatal("the case fails without the fault")
			}
			if !fails(t, test.noticed, test.breaks) {
				t.Error("the suite did not notice")
			}
		})
	}
}

func ExampleCases() {
	fmt.Println(transporttest.Cases()[0].Name)
	// Output: packets arrive whole and in order
}
