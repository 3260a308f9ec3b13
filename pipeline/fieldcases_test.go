// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// The numbers are those of the collection of public bug reports that these cases
// come from. Those that concern single messages are tested in codec; P3 and P4 also
// by TestReadyMessages.

func TestP7WhatKillsAnEngineIsRefusedAndNotSent(t *testing.T) {
	bad := map[string]func(*codec.Request){
		"empty id":                      func(r *codec.Request) { r.ID = "" },
		"id is no UTF-8":                func(r *codec.Request) { r.ID = "\xff" },
		"id of 1 MiB":                   func(r *codec.Request) { r.ID = strings.Repeat("r", 1<<20) },
		"neither prompt nor embeddings": func(r *codec.Request) { r.Prompt = nil },
		"arrival is no number":          func(r *codec.Request) { r.ArrivalTime = math.NaN() },
		"token beyond 2^31":             func(r *codec.Request) { r.Prompt = []uint32{1, math.MaxUint32} }, // -1
		"temperature 3":                 func(r *codec.Request) { r.Sampling.Temperature = new(3.0) },
		"two constraints": func(r *codec.Request) {
			r.Sampling.StructuredOutputs = &codec.StructuredOutputs{Regex: "a", Grammar: "b"}
		},
		"min above max":       func(r *codec.Request) { r.Sampling.MinTokens = 9 },
		"min above the model": func(r *codec.Request) { r.Sampling.MaxTokens, r.Sampling.MinTokens = 0, 98 },
	}
	synctest.Test(t, func(t *testing.T) {
		c, peers, _ := connect(t, 1)
		before := submit(t, c, simple("before"))
		peers[0].next()
		for name, change := range bad {
			r := simple("r")
			change(r)
			_, err := c.Submit(context.Background(), r)
			if f, ok := errors.AsType[*codec.FieldError](err); !ok || f.Field == "" || f.Rule == "" {
				t.Errorf("%s: got %v", name, err)
			}
		}
		after := submit(t, c, simple("after"))
		if m := peers[0].next(); m.request.ID != "after" {
			t.Fatalf("the engine got %q", m.request.ID)
		}
		survives(t, peers[0], before)
		survives(t, peers[0], after)
	})
}

func TestP8WhatIsSentIsNotOverwrittenWhileItWaits(t *testing.T) {
	paired(t, new(inproc.Network), fixedInput, fixedOutput)
}

// paired sends large requests with a tensor each, in two patterns by turns, to an
// engine that begins to read when all are on their way.
func paired(t *testing.T, net transport.Transport, input, output string) {
	n := 2000
	if raceEnabled {
		n = 100
	}
	p := dial(t, net, input, output, 0).ready(codec.Ready{MaxModelLen: 1 << 20, Version: codec.DefaultRelease})
	c, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: net, Input: input, Output: output})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, c)
	const length, hidden = 26 << 10, 2 // tokens of five bytes, 130 KiB of them
	pattern := func(i int) (uint32, byte) { return 1<<20 + uint32(i%2), byte(0x55 << (i % 2)) }
	for i := range n {
		token, fill := pattern(i)
		r := &codec.Request{
			ID: fmt.Sprint("r", i), Prompt: make([]uint32, length), Sampling: &codec.SamplingParams{MaxTokens: 1},
			PromptEmbeds: &codec.Tensor{DType: "uint8", Shape: []int{length, hidden}, Data: bytes.Repeat([]byte{fill}, length*hidden)},
		}
		for k := range r.Prompt {
			r.Prompt[k] = token
		}
		submit(t, c, r)
	}
	for i := range n {
		r := p.next().request
		token, fill := pattern(i)
		if r.ID != fmt.Sprint("r", i) || len(r.Prompt) != length || len(r.PromptEmbeds.Data) != length*hidden {
			t.Fatalf("request %d is %s with %d tokens", i, r.ID, len(r.Prompt))
		}
		for k, got := range r.Prompt {
			if got != token {
				t.Fatalf("request %d: token %d is %x, want %x", i, k, got, token)
			}
		}
		if bytes.Count(r.PromptEmbeds.Data, []byte{fill}) != length*hidden {
			t.Fatalf("request %d has the tensor of another", i)
		}
	}
}

func TestP15PromptLogprobsThatMakeNoSenseAreTheirReadersAlone(t *testing.T) {
	message := func(rows, columns int) []byte { // by hand: our encoder refuses the bad one
		matrix := func(dtype string) []any { return []any{dtype, []any{rows, columns}, []byte{}} }
		b, err := codec.AppendValue(nil, []any{0, []any{
			[]any{"bad", []any{1}, nil, []any{matrix("int64"), matrix("float32"), []any{"int64", []any{rows}, make([]byte, 8*rows)}}},
			[]any{"good", []any{2}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, c := range map[string]struct {
		rows, columns int
		ok            bool
	}{"none, of an empty prompt": {0, 0, true}, "positions without a token": {3, 0, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, peers, _ := connect(t, 1)
				r := simple("bad")
				r.Sampling.PromptLogprobs = new(1)
				bad, good := submit(t, client, r), submit(t, client, simple("good"))
				peers[0].next()
				peers[0].next()
				peers[0].send(peers[0].out, message(c.rows, c.columns))
				o, err := bad.Next(t.Context())
				if err == nil {
					_, err = o.Extra()
				}
				if d, typed := errors.AsType[*codec.DecodeError](err); c.ok != (err == nil) || !c.ok && (!typed || d.Field != "new_prompt_logprobs_tensors") {
					t.Fatalf("got %v", err)
				}
				if o, err := good.Next(t.Context()); err != nil || o.Tokens[0] != 2 {
					t.Fatalf("the other one got %v, %v", o, err)
				}
				survives(t, peers[0], good)
			})
		})
	}
}
