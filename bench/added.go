// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// steps notes when each engine's last step was received, which is where what this
// client adds to a token's way begins.
type steps struct {
	clock func(stamp float64) time.Time // of an engine's stamp; nil where that cannot be told

	received sync.Map // rank to *time.Time

	mu    sync.Mutex
	since *hdrhistogram.Histogram // ns from an engine's stamp to the receipt
}

// longestStep bounds what is taken for a stamp of this machine's clock.
const longestStep = 10 * time.Second

func newSteps() *steps {
	return &steps{clock: stampClock(), since: hdrhistogram.New(1, int64(longestStep), 3)}
}

// last is when the last step of an engine was received.
func (s *steps) last(rank int) (at time.Time) {
	if p, ok := s.received.Load(rank); ok {
		at = *p.(*time.Time)
	}
	return at
}

// note takes a step that was received at the given time.
func (s *steps) note(d pipeline.Decoded, at *time.Time) {
	if d.Outputs == nil || len(d.Outputs.Rows) == 0 || at == nil {
		return
	}
	s.received.Store(d.Outputs.Engine, at)
	if s.clock == nil {
		return
	}
	if took := at.Sub(s.clock(d.Outputs.Timestamp)); took > 0 && took < longestStep {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.since.RecordValue(int64(took)) // in range
	}
}

// chain joins what follows an output connection, with a stage more.
func (s *steps) chain(g *pipeline.Group, p pipeline.Parts, o pipeline.Output) {
	conn := &stamped{Conn: o.Conn}
	packets := pipeline.From(g, "receive", p.Buffer, pipeline.Receive(conn))
	outputs := pipeline.Via(g, "decode", packets, p.Buffer, pipeline.Decode(p.Table, o.Rank))
	noted := pipeline.Via(g, "note", outputs, p.Buffer, pipeline.Tap(func(d pipeline.Decoded) { s.note(d, conn.at.Load()) }))
	pipeline.To(g, "dispatch", noted, pipeline.Dispatch(p.Table))
}

// stamped notes when it received last.
type stamped struct {
	transport.Conn
	at atomic.Pointer[time.Time]
}

func (c *stamped) Recv(ctx context.Context) (transport.Packet, error) {
	p, err := c.Conn.Recv(ctx)
	c.at.Store(new(time.Now()))
	return p, err
}
