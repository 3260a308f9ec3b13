// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// still is a transport that allocates nothing: what is sent vanishes, and what
// arrives is what the test hands over.
type still struct{ ready, outputs chan transport.Packet }

type stillConn struct {
	transport.Conn // nil: the other methods are not called
	recv           <-chan transport.Packet
	done           chan struct{}
}

func (s *still) Open(_ context.Context, socket transport.Socket) (transport.Conn, error) {
	c := &stillConn{recv: s.outputs, done: make(chan struct{})}
	if socket.Pattern == transport.Router {
		c.recv = s.ready
	}
	return c, nil
}

func (c *stillConn) Send(transport.Packet) error { return nil }
func (c *stillConn) Endpoint() string            { return "" }

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

// connectStill connects a client whose only engine is the channel that it returns.
func connectStill(t testing.TB) (*pipeline.Client, chan<- transport.Packet) {
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
	return c, s.outputs
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

func TestATokenAllocatesNothingAndAMessageLittle(t *testing.T) { // X4
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, n := range []int{1, 256, 10_000} {
		c, outputs := connectStill(t)
		var ids []string
		var streams []*pipeline.Stream
		for i := range n {
			ids = append(ids, fmt.Sprint("request-", i))
			streams = append(streams, submit(t, c, simple(ids[i])))
		}
		// A step has at most 256 of them, in the order of the engine's batch.
		step, of := stepOf(t, codec.FinishNone, ids[:min(n, 256)]...), streams[:min(n, 256)]
		got := testing.AllocsPerRun(200, func() {
			outputs <- step
			for _, s := range of {
				if o, err := s.Next(context.Background()); err != nil || len(o.Tokens) != 1 {
					t.Fatal(o, err)
				}
			}
		})
		// The array of the step's tokens, which are the readers'. ZeroMQ adds two a
		// frame, the list of frames and, when the receiver waits, one for that.
		if got > 1 {
			t.Errorf("%d streams: a message allocates %v times, want 1", n, got)
		}
	}
}

func TestARequestAllocatesItsStreamAndLittleMore(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ends, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		most float64 // beyond the Stream and the tokens of its message
	}{
		"a context that never ends": {context.Background(), 0},
		"a context that may end":    {ends, 3},
	} {
		c, outputs := connectStill(t)
		r, last := simple("request"), stepOf(t, codec.FinishLength, "request")
		got := testing.AllocsPerRun(200, func() {
			s, err := c.Submit(test.ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			outputs <- last
			if _, err = s.Next(test.ctx); err != nil {
				t.Fatal(err)
			}
			if _, err = s.Next(test.ctx); err != io.EOF {
				t.Fatal(err)
			}
		})
		if got > 2+test.most {
			t.Errorf("%s: a request allocates %v times, want the Stream, the tokens and at most %v more", name, got, test.most)
		}
	}
}
