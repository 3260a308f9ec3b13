// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// closeTimeout bounds what the end of a run waits for.
const closeTimeout = 5 * time.Second

// newTransport is a transport by name, and how to end it.
func newTransport(name string) (transport.Transport, func() error, error) {
	if name == "inproc" {
		return &inproc.Network{}, func() error { return nil }, nil
	}
	return newZMQ()
}

// run does one run: engines, client, load. A result may come with an error.
func (p *plan) run(ctx context.Context, t terminal) (r *load.Result, err error) {
	network, end, err := newTransport(p.transport)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	engines := &fleet{plan: p, network: network}
	defer func() { err = errors.Join(err, engines.stop()) }()
	client, err := p.connect(ctx, network, engines)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.end(t)) }()
	progress, erase := newProgress(t, p)
	defer erase()
	config := load.Config{
		Requests: p.Requests, Concurrency: p.Concurrency, PromptTokens: p.PromptTokens, OutputTokens: p.OutputTokens,
		AuxBytes: p.AuxBytes, Vocab: p.Vocab, Warmup: p.warmup, Abort: p.Abort, Verify: p.Verify, NoITL: p.NoITL, Prefix: p.IDPrefix, Progress: progress,
	}
	if client.steps != nil {
		config.Received = client.steps.last
	}
	if p.Raw {
		r, err = load.RunRaw(ctx, client, config)
	} else {
		r, err = load.Run(ctx, client, config)
	}
	if err != nil {
		return nil, err
	}
	r.Transport, r.Policy = p.transport, p.policy
	if s := client.steps; s != nil {
		r.Received = load.Micros(s.since)
	}
	if p.transport != "inproc" {
		r.CPUScope = "client"
	}
	return r, nil
}

// connect brings engines and a client together.
func (p *plan) connect(ctx context.Context, network transport.Transport, engines *fleet) (*target, error) {
	choice, err := newPolicy(p.policy)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &target{}
	if p.Added {
		t.steps = newSteps()
	}
	config := pipeline.Config{
		Transport: network, Engines: p.engines, Attach: p.Attach, Bind: p.bind(), Input: p.Input, Output: p.Output,
		Release: p.Release, Policy: choice, Wire: t.wire, ConnectTimeout: p.ConnectTimeout,
		MaxInFlight: max(p.Concurrency, pipeline.DefaultMaxInFlight), StreamInterval: p.Interval,
	}
	h := &launch.Handshake{Endpoint: p.Handshake}
	if p.ours() {
		if h.Endpoint, err = engines.endpoint(); err != nil {
			return nil, err
		}
		h.Bound = func(endpoint string) { engines.start(endpoint, cancel) }
	}
	if !p.Attach {
		config.Launch = h
	}
	t.Client, err = pipeline.Connect(ctx, config)
	if failed := (*engineError)(nil); err != nil && errors.As(context.Cause(ctx), &failed) {
		return nil, failed // says more than that engines are missing
	}
	return t, err
}

// end closes the client and reports what it survived.
func (t *target) end(term terminal) error {
	c := t.Counters()
	if n := c.Malformed + c.BadRows + c.Strangers; n > 0 {
		fmt.Fprintf(term.err, "bench: %d messages and %d outputs could not be decoded, %d came from strangers\n",
			c.Malformed, c.BadRows, c.Strangers)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return t.Close(ctx)
}
