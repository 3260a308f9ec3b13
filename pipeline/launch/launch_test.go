// SPDX-License-Identifier: Apache-2.0

package launch_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

const endpoint = "tcp://127.0.0.1:29550"

// refusals are what a Handshake did not answer.
type refusals struct {
	mu   sync.Mutex
	errs []*launch.RefusedError
}

func (r *refusals) add(err *launch.RefusedError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *refusals) has(want error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.errs, func(e *launch.RefusedError) bool { return errors.Is(e, want) })
}

// say opens a Dealer and says something in the handshake.
func say(t *testing.T, net *inproc.Network, identity string, messages ...codec.Handshake) transport.Conn {
	t.Helper()
	c, err := net.Open(t.Context(), transport.Socket{Pattern: transport.Dealer, Endpoint: endpoint, Identity: []byte(identity)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, m := range messages {
		b, err := codec.AppendHandshake(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Send(transport.Packet{Frames: [][]byte{b}, Shared: 1}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// serve runs a simulated engine that shakes hands, and returns how to end it.
func serve(t *testing.T, net *inproc.Network, rank int, sim *engine.Sim) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := engine.Serve(ctx, engine.Config{Transport: net, Rank: rank, Handshake: endpoint}, sim); err != nil {
			if dead := (*engine.DeathError)(nil); !errors.As(err, &dead) {
				t.Error(err)
			}
		}
	}()
	return func() { cancel(); <-done }
}

func config(net *inproc.Network, r *refusals, n int) pipeline.Config {
	return pipeline.Config{Transport: net, Engines: n, Launch: &launch.Handshake{Endpoint: endpoint, Refused: r.add}}
}

func TestEnginesOfOthersAreMetAndEachHasItsOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, r := new(inproc.Network), new(refusals)
		for rank := range 3 {
			defer serve(t, net, rank, &engine.Sim{})()
		}
		c, err := pipeline.Connect(t.Context(), config(net, r, 3))
		if err != nil {
			t.Fatal(err)
		}
		_, outputs := c.Addresses()
		if slices.Sort(outputs); len(slices.Compact(outputs)) != 3 {
			t.Errorf("outputs are %v", outputs)
		}
		if err := c.Close(t.Context()); err != nil || len(r.errs) != 0 {
			t.Errorf("%v, refused %v", err, r.errs)
		}
	})
}

func TestStrangersAreRefusedAndTheOthersServed(t *testing.T) {
	hello, ready := codec.Handshake{Status: codec.StatusHello}, codec.Handshake{Status: codec.StatusReady}
	synctest.Test(t, func(t *testing.T) {
		net, r := new(inproc.Network), new(refusals)
		say(t, net, "\x05\x00", hello)
		say(t, net, "long", hello)
		say(t, net, "\x01\x00", ready)
		say(t, net, "\x00\x00", codec.Handshake{Status: "WHAT"})
		junk := say(t, net, "junk")
		_ = junk.Send(transport.Packet{Frames: [][]byte{{0xc1}, nil}, Shared: 2})
		c := config(net, r, 2)
		c.ConnectTimeout = time.Second
		if _, err := pipeline.Connect(t.Context(), c); !errors.As(err, new(*pipeline.ConnectError)) {
			t.Fatalf("got %v", err)
		}
		for _, want := range []error{launch.ErrUnmanaged, launch.ErrOrder, launch.ErrStatus} {
			if !r.has(want) {
				t.Errorf("%v is not among %v", want, r.errs)
			}
		}
		if len(r.errs) != 5 {
			t.Errorf("%d refusals: %v", len(r.errs), r.errs)
		}
		defer serve(t, net, 0, &engine.Sim{})()
		defer serve(t, net, 1, &engine.Sim{})()
		again, err := pipeline.Connect(t.Context(), config(net, r, 2))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHashesMustAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, r := new(inproc.Network), new(refusals)
		for i, hash := range []string{"a", "b"} {
			say(t, net, string([]byte{byte(i), 0}), codec.Handshake{Status: codec.StatusHello},
				codec.Handshake{Status: codec.StatusReady, ParallelConfigHash: hash})
		}
		began := time.Now()
		_, err := pipeline.Connect(t.Context(), config(net, r, 2))
		if !errors.Is(err, launch.ErrHash) || !r.has(launch.ErrHash) || time.Since(began) > time.Second {
			t.Fatalf("got %v after %v, refused %v", err, time.Since(began), r.errs)
		}
	})
}

func TestARestartedEngineShakesHandsAgain(t *testing.T) { // F16
	synctest.Test(t, func(t *testing.T) {
		net, r := new(inproc.Network), new(refusals)
		stop := serve(t, net, 0, &engine.Sim{})
		c, err := pipeline.Connect(t.Context(), config(net, r, 1))
		if err != nil {
			t.Fatal(err)
		}
		second := say(t, net, "\x00\x00", codec.Handshake{Status: codec.StatusHello}) // while the first lives
		time.Sleep(10 * time.Second)                                                  // fake
		if !r.has(launch.ErrInUse) {
			t.Fatalf("a second engine of the rank: refused %v", r.errs)
		}
		_ = second.Close()
		stop()
		defer serve(t, net, 0, &engine.Sim{})()
		time.Sleep(10 * time.Second) // fake
		s, err := c.Submit(t.Context(), &codec.Request{ID: "r", Prompt: []uint32{1}, Sampling: &codec.SamplingParams{MaxTokens: 2}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheHandshakeAddressIsResolvedAndInitCarriesTheConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := new(inproc.Network)
		bound := make(chan string, 1)
		h := &launch.Handshake{
			Endpoint: "tcp://127.0.0.1:0", Bound: func(e string) { bound <- e },
			ParallelConfig: map[string]any{"data_parallel_size": 2},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := pipeline.Connect(ctx, pipeline.Config{Transport: net, Launch: h}); done <- err }()
		c, err := net.Open(t.Context(), transport.Socket{Pattern: transport.Dealer, Endpoint: <-bound, Identity: []byte{0, 0}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		b, _ := codec.AppendHandshake(nil, &codec.Handshake{Status: codec.StatusHello})
		if err := c.Send(transport.Packet{Frames: [][]byte{b}, Shared: 1}); err != nil {
			t.Fatal(err)
		}
		p, err := c.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		init, err := codec.DecodeInit(p.Frames[0])
		if err != nil || len(init.Inputs) != 1 || len(init.Outputs) != 1 || init.ParallelConfig["data_parallel_size"] != int64(2) {
			t.Fatalf("got %+v, %v", init, err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}
