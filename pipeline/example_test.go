// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// A pipeline of one's own: it makes every request greedy, and drops those of one
// tenant.
func ExampleConfig_wire() {
	wire := func(g *pipeline.Group, p pipeline.Parts) {
		commands := pipeline.From(g, "submit", p.Buffer, p.Commands)
		greedy := pipeline.Via(g, "greedy", commands, p.Buffer, pipeline.Tap(makeGreedy))
		allowed := pipeline.Via(g, "allow", greedy, p.Buffer, pipeline.Filter(allow))
		encoded := pipeline.Via(g, "encode", allowed, p.Buffer, pipeline.Encode(p.Table))
		routed := pipeline.Via(g, "route", encoded, p.Buffer, pipeline.Route(p.Policy, p.Table))
		pipeline.To(g, "send", routed, pipeline.Send(p.Input, p.Table))
		pipeline.To(g, "register", pipeline.From(g, "ready", p.Buffer, pipeline.Receive(p.Input)), pipeline.Register(p.Table))
		for _, o := range p.Outputs {
			packets := pipeline.From(g, "receive", p.Buffer, pipeline.Receive(o.Conn))
			outputs := pipeline.Via(g, "decode", packets, p.Buffer, pipeline.Decode(p.Table, o.Rank))
			pipeline.To(g, "dispatch", outputs, pipeline.Dispatch(p.Table))
		}
	}
	show(wire, "mallory-1", "alice-1")
	// Output:
	// mallory-1: dropped: true
	// alice-1: 4 tokens, temperature 0
}

// makeGreedy changes a copy: the request is its submitter's.
func makeGreedy(c pipeline.Command) {
	if a, ok := c.(*pipeline.Add); ok {
		r, s := *a.Request, *a.Request.Sampling
		s.Temperature, r.Sampling = new(0.0), &s
		a.Request = &r
	}
}

func allow(c pipeline.Command) bool {
	a, ok := c.(*pipeline.Add)
	return !ok || !strings.HasPrefix(a.Request.ID, "mallory")
}

// show submits a request of each id and prints what becomes of it.
func show(wire func(*pipeline.Group, pipeline.Parts), ids ...string) {
	ctx, temperature := context.Background(), -1.0
	sim := &engine.Sim{Script: func(_ int, r *codec.Request) engine.Outcome {
		temperature = *r.Sampling.Temperature
		return engine.Outcome{}
	}}
	client, err := pipeline.Connect(ctx, pipeline.Config{Transport: new(inproc.Network), Launch: engine.Cores{sim}, Wire: wire})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close(ctx) }()
	for _, id := range ids {
		stream, err := client.Submit(ctx, &codec.Request{
			ID: id, Prompt: []uint32{1, 2}, Sampling: &codec.SamplingParams{Temperature: new(0.9), MaxTokens: 4},
		})
		tokens := 0
		for out, end := range stream.All(ctx) {
			tokens, err = tokens+len(out.Tokens), end
		}
		if err != nil {
			fmt.Printf("%s: dropped: %v\n", id, errors.Is(err, pipeline.ErrDropped))
			continue
		}
		fmt.Printf("%s: %d tokens, temperature %v\n", id, tokens, temperature)
	}
}
