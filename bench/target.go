// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// target is the client with a count of the messages it receives.
type target struct {
	*pipeline.Client
	messages atomic.Int64
	steps    *steps // nil unless --added-latency
}

// Messages is what load asks for.
func (t *target) Messages() int64 { return t.messages.Load() }

// wire is the default pipeline behind counting connections: no stage more unless
// steps are noted.
func (t *target) wire(g *pipeline.Group, p pipeline.Parts) {
	outputs := make([]pipeline.Output, len(p.Outputs))
	for i, o := range p.Outputs {
		outputs[i] = pipeline.Output{Conn: counted{o.Conn, &t.messages}, Rank: o.Rank}
	}
	if p.Outputs = outputs; t.steps == nil {
		pipeline.Wire(g, p)
		return
	}
	p.Outputs = nil
	pipeline.Wire(g, p)
	for _, o := range outputs {
		t.steps.chain(g, p, o)
	}
}

// counted counts what is received.
type counted struct {
	transport.Conn
	messages *atomic.Int64
}

func (c counted) Recv(ctx context.Context) (transport.Packet, error) {
	p, err := c.Conn.Recv(ctx)
	if err == nil {
		c.messages.Add(1)
	}
	return p, err
}
