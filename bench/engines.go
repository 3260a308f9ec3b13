// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/corepipe/corepipe/bench/sim"
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
)

// enginesCmd is the command that serves simulated engines.
type enginesCmd struct {
	Handshake string        `required:"" placeholder:"ENDPOINT" help:"Where a client waits for engines: tcp://HOST:PORT or ipc://PATH."`
	Count     int           `placeholder:"N" default:"1" help:"How many engines (${default})."`
	FirstRank int           `placeholder:"R" help:"Rank of the first one (0)."`
	Vocab     int           `placeholder:"N" default:"256" help:"Token ids are below it (${default})."`
	StepTime  time.Duration `placeholder:"DURATION" help:"What a step takes, such as 10ms. Default: no time."`
	MaxBatch  int           `placeholder:"N" default:"256" help:"Requests that run in a step; more wait (${default})."`
	MaxLen    int           `name:"max-model-len" placeholder:"N" default:"131072" help:"Tokens that a prompt and its answer may have together (${default})."`
	Release   string        `placeholder:"R" help:"vLLM release to speak and to say."`
	UntilEOF  bool          `name:"until-eof" help:"End when standard input does: with the process that holds the other end of it."`
}

// maxStep bounds --step-time.
const maxStep = time.Hour

// Run serves until ctx ends.
func (c *enginesCmd) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	network, end, err := newZMQ()
	if err != nil {
		return err
	}
	engines, err := sim.Start(ctx, sim.Config{
		Transport: network, Handshake: c.Handshake, Engines: c.Count, FirstRank: c.FirstRank, Release: c.Release,
		Core: func(int) engine.Core {
			return &engine.Sim{Vocab: c.Vocab, StepTime: c.StepTime, MaxBatch: c.MaxBatch, MaxModelLen: c.MaxLen}
		},
	})
	if err != nil {
		return errors.Join(err, end())
	}
	fmt.Fprintf(t.err, "bench: %d simulated engines from rank %d for the client at %s; Ctrl-C ends them\n",
		c.Count, c.FirstRank, c.Handshake)
	select {
	case <-engines.Done():
		return errors.Join(engines.Wait(), end())
	case <-c.eof():
		return nil // nobody is left to be told anything, so nothing is waited for
	}
}

// eof is closed when standard input has ended, if that matters.
func (c *enginesCmd) eof() <-chan struct{} {
	if !c.UntilEOF {
		return nil
	}
	over := make(chan struct{})
	go func() { // ends with standard input, or with the process
		defer close(over)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	return over
}

func (c *enginesCmd) check() error {
	if e, err := transport.ParseEndpoint(c.Handshake, false); err != nil {
		return &usageError{"--handshake", err}
	} else if e.Scheme == "inproc" {
		return &usageError{"--handshake", fmt.Errorf("%s ends at this process; take ipc or tcp", c.Handshake)}
	}
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"--first-rank", c.FirstRank, 0, 1<<16 - 1},
		{"--count", c.Count, 1, 1<<16 - c.FirstRank},
		{"--vocab", c.Vocab, 1, maxVocab},
		{"--step-time", int(c.StepTime), 0, int(maxStep)},
		{"--max-batch", c.MaxBatch, 1, maxVocab},
		{"--max-model-len", c.MaxLen, 1, 2 * maxVocab},
	} {
		if n.value < n.least || n.value > n.most {
			return &usageError{n.flag, fmt.Errorf("must be %d to %d, is %d", n.least, n.most, n.value)}
		}
	}
	if c.Release != "" {
		if _, err := codec.LayoutOf(c.Release); err != nil {
			return &usageError{"--release", err}
		}
	}
	return nil
}
