// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// still is a transport that allocates nothing: what is sent vanishes, and what
// arrives is what the test hands over.
type still struct {
	ready, outputs chan transport.Packet
	added          atomic.Int64 // requests that were sent
}

// give hands over what an engine says once n requests in all have come to it.
func (s *still) give(n int64, p transport.Packet) {
	for s.added.Load() < n {
		runtime.Gosched()
	}
	s.outputs <- p
}

type stillConn struct {
	transport.Conn // nil: the other methods are not called
	of             *still
	recv           <-chan transport.Packet
	done           chan struct{}
}

func (s *still) Open(_ context.Context, socket transport.Socket) (transport.Conn, error) {
	c := &stillConn{of: s, recv: s.outputs, done: make(chan struct{})}
	if socket.Pattern == transport.Router {
		c.recv = s.ready
	}
	return c, nil
}

func (c *stillConn) Send(p transport.Packet) error {
	if p.Frames[0][0] == byte(codec.Add) {
		c.of.added.Add(1)
	}
	return nil
}

func (c *stillConn) Endpoint() string { return "" }

func (c *stillConn) Recv(ctx context.Context) (transport.Packet, error) {
	select {
	case p := <-c.recv:
		return p, nil
	case <-c.done:
		return transport.Packet{}, transport.ErrClosed
	case <-ctx.Done():
		return transport.Packet{}, context.Cause(ctx)
	}
}

func (c *stillConn) Close() error {
	select {
	case <-c.done:
	default:
		close(c.done)
	}
	return nil
}

// connectStill connects a client whose only engine is the test.
func connectStill(t testing.TB) (*pipeline.Client, *still) {
	t.Helper()
	s := &still{ready: make(chan transport.Packet, 1), outputs: make(chan transport.Packet, 1)}
	b, err := codec.AppendReady(nil, &codec.Ready{Version: codec.DefaultRelease, MaxModelLen: 4096})
	if err != nil {
		t.Fatal(err)
	}
	s.ready <- transport.Packet{Peer: codec.Identity(0), Frames: [][]byte{b}}
	c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: s, Engines: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel() // what lives is of no more interest
		_ = c.Close(now)
	})
	return c, s
}

// stepOf is a message with a token for each of ids.
func stepOf(t testing.TB, finish codec.FinishReason, ids ...string) transport.Packet {
	t.Helper()
	l, err := codec.LayoutOf(codec.DefaultRelease)
	if err != nil {
		t.Fatal(err)
	}
	var rows []codec.Output
	for i, id := range ids {
		rows = append(rows, row(id, finish, uint32(100_000+i)))
	}
	b, _, err := l.AppendOutputs(nil, nil, &codec.Outputs{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return transport.Packet{Frames: [][]byte{b}}
}

// A message allocates the array of its tokens, which are the readers'. Over ZeroMQ it is
// two more a frame, one to ask for further frames and one when the receiver waits.
func TestX2AMessageAllocatesOnceForAllItsOutputs(t *testing.T) {
	allocatesOnce(t, 256, 256, true)
	allocatesOnce(t, 256, 256, false)
}

func TestX4ATokenAllocatesNothingHoweverManyStreamsLive(t *testing.T) {
	for _, live := range []int{1, 256, 10_000} {
		allocatesOnce(t, live, 1, false)
		allocatesOnce(t, live, min(live, 256), false)
	}
}

// allocatesOnce counts what a step allocates, whatever the number of its rows.
func allocatesOnce(t *testing.T, live, rows int, readers bool) {
	t.Helper()
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := newCrowd(t, live, rows, readers)
	if got := testing.AllocsPerRun(200, f.step); got != 1 {
		t.Errorf("%d of %d streams, readers: %v: a step allocates %v times, want 1", rows, live, readers, got)
	}
}

func TestARequestAllocatesItsStreamAndLittleMore(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, test := range map[string]struct {
		ctx  context.Context
		most float64 // beyond the Stream and the tokens of its message
	}{
		"a context that never ends": {context.Background(), 0},
		"a context that may end":    {t.Context(), 3},
	} {
		c, engine := connectStill(t)
		n, r, last := int64(0), simple("request"), stepOf(t, codec.FinishLength, "request")
		got := testing.AllocsPerRun(200, func() {
			s, err := c.Submit(test.ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			n++
			engine.give(n, last)
			if _, err = s.Next(test.ctx); err != nil {
				t.Fatal(err)
			}
			if _, err = s.Next(test.ctx); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		})
		if got > 2+test.most {
			t.Errorf("%s: a request allocates %v times, want the Stream, the tokens and at most %v more", name, got, test.most)
		}
	}
}
