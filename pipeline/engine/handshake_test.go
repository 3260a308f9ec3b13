// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// launcher binds the address where engines shake hands.
func launcher(t *testing.T, n transport.Transport) transport.Conn {
	t.Helper()
	conn, err := n.Open(t.Context(), transport.Socket{Pattern: transport.Router, Endpoint: "inproc://hs", Bind: true})
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close()) })
	return conn
}

// told takes a message of the handshake.
func told(t *testing.T, conn transport.Conn) (peer string, h *codec.Handshake) {
	t.Helper()
	p, err := conn.Recv(t.Context())
	must(t, err)
	h, err = codec.DecodeHandshake(p.Frames[0])
	must(t, err)
	return p.Peer, h
}

func TestHandshakeGoesInVLLMsOrder(t *testing.T) {
	for _, c := range []struct {
		name            string
		config          engine.Config
		local, headless bool
	}{
		{"an engine from elsewhere is headless", engine.Config{Rank: 259}, false, true},
		{"a local engine has a front end", engine.Config{Rank: 259, Local: true}, true, false},
		{"a local engine may be headless", engine.Config{Rank: 259, Local: true, Headless: true}, true, true},
	} {
		bubble(t, c.name, func(t *testing.T) {
			network := new(inproc.Network)
			hs, f := launcher(t, network), listen(t, network, 0)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			c.config.Transport, c.config.Handshake, c.config.ParallelConfigHash = network, hs.Endpoint(), "beef"
			go func() { done <- engine.Serve(ctx, c.config, &engine.Sim{}) }()

			peer, h := told(t, hs)
			if want := (codec.Handshake{Status: codec.StatusHello, Local: c.local, Headless: c.headless}); *h != want || peer != "\x03\x01" {
				t.Errorf("got %+v of %q, want %+v of rank 259", *h, peer, want)
			}
			synctest.Wait()
			nothingAt(t, f.input)
			init, err := codec.AppendInit(nil, &codec.Init{
				Inputs: []string{f.input.Endpoint()}, Outputs: []string{f.output.Endpoint()},
				StatsAddress: "inproc://c3",
			})
			must(t, err)
			must(t, hs.Send(transport.Packet{Peer: peer, Frames: [][]byte{init}, Shared: 1}))

			if _, h = told(t, hs); h.Status != codec.StatusReady || h.ParallelConfigHash != "beef" || h.Local != c.local {
				t.Errorf("got %+v, want READY with the hash", *h)
			}
			ready := f.ready() // is there already: it comes before READY
			if f.peer != peer || ready.StatsAddress != "inproc://c3" || ready.DataParallelRank != 259 {
				t.Errorf("ready message of %q: %+v", f.peer, ready)
			}
			f.add(generate("r1", 3))
			if o := f.next(); o.Engine != 259 {
				t.Errorf("outputs of engine %d, want 259", o.Engine)
			}
			stop()
			must(t, <-done)
		})
	}
}

// nothingAt checks that nothing waits at conn.
func nothingAt(t *testing.T, conn transport.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if p, err := conn.Recv(ctx); err == nil {
		t.Errorf("got %q, want nothing", p.Frames)
	}
}

func TestHandshakeThatCannotSucceed(t *testing.T) {
	encode := func(i codec.Init) []byte {
		b, err := codec.AppendInit(nil, &i)
		must(t, err)
		return b
	}
	for _, c := range []struct {
		name string
		init []byte // nil: no answer
		want string
	}{
		{"no answer ends after the timeout", nil, "no answer to HELLO"},
		{"an answer that is not msgpack is named", []byte{0xc1}, "handshake with inproc://hs"},
		{"no addresses are refused", encode(codec.Init{}), "addresses of 0 inputs"},
		{"inputs without outputs are refused", encode(codec.Init{Inputs: []string{"inproc://a"}}), "1 inputs and 0 outputs"},
		{"a bad address is named", encode(codec.Init{Inputs: []string{"nope"}, Outputs: []string{"nope"}}), "connect to nope"},
	} {
		bubble(t, c.name, func(t *testing.T) {
			network := new(inproc.Network)
			hs := launcher(t, network)
			done := make(chan error, 1)
			config := engine.Config{Transport: network, Handshake: hs.Endpoint(), HandshakeTimeout: time.Second}
			go func() { done <- engine.Serve(t.Context(), config, &engine.Sim{}) }()
			peer, _ := told(t, hs)
			if c.init != nil {
				must(t, hs.Send(transport.Packet{Peer: peer, Frames: [][]byte{c.init}, Shared: 1}))
			}
			if err := <-done; err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "engine: ") {
				t.Errorf("got %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestServeEndsInTheMiddleOfAHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- engine.Serve(ctx, engine.Config{Transport: new(inproc.Network), Handshake: "inproc://hs"}, &engine.Sim{})
		}()
		synctest.Wait()
		stop()
		must(t, <-done)
	})
}

func TestConfigThatCannotBeUsed(t *testing.T) {
	network := new(inproc.Network)
	one := []string{"inproc://a"}
	for _, c := range []struct {
		name   string
		config engine.Config
		want   string
	}{
		{"no transport", engine.Config{Inputs: one, Outputs: one}, "Config.Transport"},
		{"a rank of three bytes", engine.Config{Transport: network, Rank: 1 << 16, Inputs: one, Outputs: one}, "Config.Rank"},
		{"no addresses", engine.Config{Transport: network}, "Config.Handshake"},
		{"an input without an output", engine.Config{Transport: network, Inputs: one}, "Config.Outputs"},
		{"a coordinator that cannot be told anything", engine.Config{Transport: network, Inputs: one, Outputs: one, CoordinatorInput: "inproc://c"}, "Config.CoordinatorOutput"},
		{"a release before all others", engine.Config{Transport: network, Inputs: one, Outputs: one, Release: "0.1"}, "Config.Release"},
		{"an address that is none", engine.Config{Transport: network, Inputs: []string{"?"}, Outputs: one}, "connect to ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := engine.Serve(t.Context(), c.config, &engine.Sim{})
			if err == nil || !strings.HasPrefix(err.Error(), "engine: "+c.want) {
				t.Errorf("got %v, want one about %s", err, c.want)
			}
		})
	}
}

func TestReadyMessageSaysWhatTheCoreIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(inproc.Network)
		f := listen(t, network, 0)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- engine.Serve(ctx, engine.Config{
				Transport: network, Release: "0.29.0", Inputs: []string{f.input.Endpoint()}, Outputs: []string{f.output.Endpoint()},
				Ready: codec.Ready{InstanceID: "mine"},
			}, &engine.Sim{MaxModelLen: 4096, MaxBatch: 8, KVTokens: 32000})
		}()
		r := f.ready()
		if r.Version != "0.29.0" || r.MaxModelLen != 4096 || r.MaxNumSeqs != 8 || r.NumGPUBlocks != 2000 ||
			r.BlockSize != 16 || *r.KVCacheSizeTokens != 32000 || r.InstanceID != "mine" || r.DType != "bfloat16" {
			t.Errorf("got %+v", r)
		}
		stop()
		must(t, <-done)
	})
}

func TestReadyMessageIsThatOfItsRelease(t *testing.T) {
	for release, says := range map[string]func(*codec.Ready) bool{
		"0.19.1": func(r *codec.Ready) bool { return r == nil },
		"0.20.0": func(r *codec.Ready) bool { return r.MaxModelLen > 0 && r.DType == "" },
		"0.22.1": func(r *codec.Ready) bool { return r.DType != "" && r.Version == "" },
		"0.23.0": func(r *codec.Ready) bool { return r.Version == "0.23.0" && r.WorldSize == 0 },
		"0.32.0": func(r *codec.Ready) bool { return r.WorldSize == 1 && r.EffectiveAttentionBlockSize != nil },
	} {
		bubble(t, release, func(t *testing.T) {
			network := new(inproc.Network)
			f := listen(t, network, 0)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- engine.Serve(ctx, engine.Config{
					Transport: network, Release: release, Inputs: []string{f.input.Endpoint()}, Outputs: []string{f.output.Endpoint()},
				}, &engine.Sim{})
			}()
			if r := f.ready(); !says(r) {
				t.Errorf("got %+v", r)
			}
			stop()
			must(t, <-done)
		})
	}
}
