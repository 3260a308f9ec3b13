// SPDX-License-Identifier: Apache-2.0

// Package sim runs simulated engines in goroutines of the calling process, for
// benchmarks and tests: engine.Sim behind engine.Serve, once for each rank.
package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
)

// Config says which engines to run. Transport and Handshake are required.
type Config struct {
	Transport transport.Transport
	// Handshake is the launcher's address, launch.Handshake.Endpoint. It need
	// not be bound yet.
	Handshake string
	Engines   int // default 1
	FirstRank int // ranks are FirstRank, FirstRank+1, …
	// Release is the vLLM release that the engines speak and say they are.
	// Default codec.DefaultRelease.
	Release string
	// Core makes the engine of a rank, and is called once for each. Default: a
	// zero engine.Sim, which takes no time.
	Core func(rank int) engine.Core
}

// Engines are running ones. They must be stopped.
type Engines struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when all have ended
	err    error         // set before over is closed
}

// Start starts the engines and returns at once: they say themselves when they
// are ready. They run until ctx ends or Stop is called.
func Start(ctx context.Context, c Config) (*Engines, error) {
	switch {
	case c.Transport == nil:
		return nil, errors.New("sim: Config.Transport: is required")
	case c.Handshake == "":
		return nil, errors.New("sim: Config.Handshake: is required")
	case c.Engines < 0 || c.FirstRank < 0 || c.FirstRank+max(c.Engines, 1) > codec.MaxRank+1:
		return nil, fmt.Errorf("sim: Config.Engines: ranks must be in 0 to 65535, have %d from %d", c.Engines, c.FirstRank)
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &Engines{cancel: cancel, over: make(chan struct{})}
	errs := make([]error, max(c.Engines, 1))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = c.serve(ctx, c.FirstRank+i) })
	}
	go func() { // ends with the engines
		all.Wait()
		e.err = errors.Join(errs...)
		close(e.over)
	}()
	return e, nil
}

// serve runs one engine.
func (c Config) serve(ctx context.Context, rank int) error {
	var core engine.Core = &engine.Sim{}
	if c.Core != nil {
		core = c.Core(rank)
	}
	err := engine.Serve(ctx, engine.Config{
		Transport: c.Transport, Handshake: c.Handshake, Rank: rank, Release: c.Release,
	}, core)
	if err != nil {
		return fmt.Errorf("sim: engine %d: %w", rank, err)
	}
	return nil
}

// Done is closed when all engines have ended, by whatever cause.
func (e *Engines) Done() <-chan struct{} { return e.over }

// Wait waits for all engines to end. The error joins those of engines that could
// not be served or that died. One that dies leaves the others running.
func (e *Engines) Wait() error {
	<-e.over
	return e.err
}

// Stop ends the engines, which abort what they have, and waits for them. It may
// be called more than once.
func (e *Engines) Stop() error {
	e.cancel()
	return e.Wait()
}
