// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// Serve runs core as a vLLM engine: it shakes hands, tells every client that it
// is ready, waits for its coordinator if it has one, and answers until ctx ends. Then it aborts what is left, with an
// output for each, and returns nil, as vLLM does on SIGTERM. When the core dies
// it returns a *DeathError; other errors say what could not be opened or sent.
// No goroutine and no connection is left; the Transport is its owner's.
//
// A message that would kill a vLLM engine is skipped and told to Config.Skipped.
func Serve(ctx context.Context, c Config, core Core) error {
	c, err := c.withDefaults(core)
	if err != nil {
		return err
	}
	layout, err := codec.LayoutOf(c.Release)
	if err != nil {
		return fmt.Errorf("engine: Config.Release: %w", err)
	}
	s := &server{config: c, layout: layout}
	defer s.close()
	if err := s.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // nobody was served yet
		}
		return err
	}
	return s.run(ctx, core)
}

// server is one engine's connections. connect fills it in; then it is fixed.
type server struct {
	config  Config
	layout  *codec.Layout
	init    *codec.Init
	inputs  []transport.Conn // by client index, as outputs
	outputs []transport.Conn
	wakes   transport.Conn     // from the coordinator; nil without one, as reports
	reports transport.Conn     // to it
	early   []transport.Packet // came over wakes before the coordinator was ready
	packets sync.Pool          // of *packet, from encode to send
}

// run joins the stages and waits for them:
//
//	receive → decode → core → encode → send
//
// They live until the core stage closes the inputs, not until ctx ends: what it
// puts out at its end is still to be sent.
func (s *server) run(ctx context.Context, core Core) error {
	loop := s.newLoop(ctx, core)
	g := pipeline.NewGroup(context.WithoutCancel(ctx))
	packets := pipeline.From(g, "receive", buffer, receive(s.sources()))
	messages := pipeline.Via(g, "decode", packets, buffer, decode(s.layout, s.skip))
	results := pipeline.Via(g, "core", messages, buffer, loop.stage)
	encoded := pipeline.Via(g, "encode", results, buffer, s.encode)
	pipeline.To(g, "send", encoded, s.send)

	err := g.Wait()
	death := loop.death
	if err != nil || death != nil && death.Announced {
		for _, conn := range s.outputs {
			_ = send(conn, []byte(codec.DeadSentinel)) // nothing more can be done for that client
		}
	}
	if err == nil && death != nil {
		err = death
	}
	return err
}

func (s *server) newLoop(ctx context.Context, core Core) *loop {
	l := &loop{
		core: core, rank: s.config.Rank, clients: len(s.outputs), counters: s.config.Counters,
		stop: ctx.Done(), skip: s.skip, hangUp: s.closeInputs,
		began: time.Now(), live: map[string]int{}, gone: map[string]struct{}{},
		encoded: make(chan struct{}, 1), parts: make([]codec.Outputs, len(s.outputs)),
		coordinated: s.reports != nil, shares: s.reports != nil && !s.config.ExternalLB,
	}
	l.mortal, _ = core.(Mortal)
	l.waver, _ = core.(Waver)
	l.loader, _ = core.(Loader)
	if l.lockstep, _ = core.(*Rank); l.lockstep != nil && l.coordinated {
		l.lockstep.Coordinate(s.layout)
	}
	if l.shares {
		l.finished = make([][]string, len(s.outputs))
	}
	return l
}

// skip counts and reports a message that is not taken.
func (s *server) skip(err error) {
	s.config.Counters.Skipped.Add(1)
	s.config.Skipped(err)
}

// closeInputs ends the receive stage, and with it the stages up to the core.
func (s *server) closeInputs() {
	for _, conn := range s.inputs {
		_ = conn.Close() // nothing is left to be lost
	}
	if s.wakes != nil {
		_ = s.wakes.Close() // as well
	}
}

func (s *server) close() {
	s.closeInputs()
	for _, conn := range s.outputs {
		_ = conn.Close() // its linger has done what could be done
	}
	if s.reports != nil {
		_ = s.reports.Close() // as well
	}
}
