// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/coordinator"
	"github.com/corepipe/corepipe/transport"
)

// coordinatorCmd is the command that coordinates data-parallel engines.
type coordinatorCmd struct {
	Engines     int    `placeholder:"N" default:"1" help:"How many engines there are, over all clients (${default})."`
	Lockstep    bool   `help:"The engines step together: a mixture-of-experts model."`
	Front       string `placeholder:"ENDPOINT" help:"Where clients subscribe. Default: tcp://127.0.0.1 and a free port, as for the others."`
	BackPublish string `placeholder:"ENDPOINT" help:"Where engines subscribe (vLLM: coordinator_input)."`
	BackOutput  string `placeholder:"ENDPOINT" help:"Where engines report (vLLM: coordinator_output)."`
	Release     string `placeholder:"R" help:"vLLM release of the engines and clients."`
	JSON        bool   `name:"json" help:"Print the addresses as a line of JSON, and at the end the counters as another."`
}

// Run coordinates until ctx ends.
func (c *coordinatorCmd) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	network, end, err := newZMQ()
	if err != nil {
		return err
	}
	err = c.coordinate(ctx, t, network)
	if endErr := end(); err == nil {
		err = endErr
	}
	return err
}

// coordinate runs the coordinator, and prints where it is and what it did.
func (c *coordinatorCmd) coordinate(ctx context.Context, t terminal, network transport.Transport) error {
	co, err := coordinator.Start(ctx, coordinator.Config{
		Transport: network, Engines: c.Engines, Lockstep: c.Lockstep, Release: c.Release,
		Front: c.Front, BackPublish: c.BackPublish, BackOutput: c.BackOutput,
	})
	if err != nil {
		return err
	}
	if err := c.print(t, where{co.Addresses()}); err != nil {
		_ = co.Close() // the first error counts
		return err
	}
	fmt.Fprintf(t.err, "bench: waiting for %d engines to subscribe; Ctrl-C ends it and prints what it did\n", c.Engines)
	<-co.Done()
	if err := c.print(t, done{co.Counters()}); err != nil {
		return err
	}
	return co.Wait()
}

// print writes v for people, or as one line of JSON.
func (c *coordinatorCmd) print(t terminal, v fmt.Stringer) error {
	if !c.JSON {
		_, err := fmt.Fprintln(t.out, v)
		return err
	}
	return json.NewEncoder(t.out).Encode(v)
}

// where and done are what the command prints.
type (
	where struct{ coordinator.Addresses }
	done  struct{ coordinator.Counters }
)

func (a where) String() string {
	return fmt.Sprintf("front         %s\nback publish  %s\nback output   %s", a.Front, a.BackPublish, a.BackOutput)
}

func (c done) String() string {
	return fmt.Sprintf("%d publications\n%d reports, and not taken: %d stale, %d of ranks not managed\n"+
		"%d first requests, %d wakes, %d waves\n%d new numbers of engines\n%d messages that made no sense",
		c.Published, c.Reports, c.Stale, c.Unmanaged, c.FirstRequests, c.Wakes, c.Waves, c.Scaled, c.Malformed)
}

func (c *coordinatorCmd) check() error {
	if c.Engines < 1 || c.Engines > codec.MaxRank+1 {
		return &usageError{"--engines", fmt.Errorf("must be 1 to %d, is %d", codec.MaxRank+1, c.Engines)}
	}
	for _, a := range []struct{ flag, address string }{
		{"--front", c.Front}, {"--back-publish", c.BackPublish}, {"--back-output", c.BackOutput},
	} {
		if a.address == "" {
			continue
		}
		if e, err := transport.ParseEndpoint(a.address, true); err != nil {
			return &usageError{a.flag, err}
		} else if e.Scheme == "inproc" {
			return &usageError{a.flag, fmt.Errorf("%s ends at this process; take ipc or tcp", a.address)}
		}
	}
	if c.Release != "" {
		if _, err := codec.LayoutOf(c.Release); err != nil {
			return &usageError{"--release", err}
		}
	}
	return nil
}
