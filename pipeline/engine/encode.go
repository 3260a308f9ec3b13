// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// result is a message to one client, or to the coordinator.
type result struct {
	client  int // or toCoordinator
	outputs *codec.Outputs
	// encoded gets a value when outputs is encoded and its memory the core's
	// again; nil when nobody waits for that.
	encoded chan<- struct{}
	method  string // that outputs answers, if it answers one
}

// toCoordinator is the number of the coordinator among clients. vLLM: -1.
const toCoordinator = -1

// packet is an encoded result. One goroutine has it at a time; the send stage
// gives it back.
type packet struct {
	client  int
	payload []byte
	aux     [][]byte
	frames  [][]byte
}

// maxPooled bounds what an idle packet may hold on to, in bytes.
const maxPooled = 1 << 20

// encode is the stage that turns results into frames.
func (s *server) encode(ctx context.Context, in <-chan result, out chan<- *packet) error {
	for r := range in {
		p, ok := s.packets.Get().(*packet)
		if !ok {
			p = new(packet)
		}
		p.client = r.client
		err := p.fill(s.layout, r.outputs, r.method)
		if r.encoded != nil {
			r.encoded <- struct{}{} // has room: the core waits for each before the next
		}
		if err != nil {
			return err
		}
		if err := pipeline.Emit(ctx, out, p); err != nil {
			return err
		}
	}
	return nil
}

// fill encodes o. A method's result that cannot be encoded fails its call alone;
// vLLM's output thread would die.
func (p *packet) fill(layout *codec.Layout, o *codec.Outputs, method string) (err error) {
	p.payload, p.aux, err = layout.AppendOutputs(p.payload[:0], p.aux[:0], o)
	if u := o.Utility; err != nil && u != nil && !u.Failed() {
		o.Utility = &codec.UtilityOutput{CallID: u.CallID, Failure: failure(method, fmt.Errorf("result cannot be sent: %w", err))}
		p.payload, p.aux, err = layout.AppendOutputs(p.payload[:0], p.aux[:0], o)
	}
	p.frames = append(append(p.frames[:0], p.payload), p.aux...)
	return err
}

// send is the stage that gives packets to the connections of those they are for.
// One that is not taken is dropped and counted: the others go on.
func (s *server) send(_ context.Context, in <-chan *packet) error {
	for p := range in {
		conn, sent := s.reports, &s.config.Counters.Reports
		if p.client != toCoordinator {
			conn, sent = s.outputs[p.client], &s.config.Counters.Messages
		}
		err := conn.Send(transport.Packet{Frames: p.frames, Shared: 1})
		switch {
		case errors.Is(err, transport.ErrClosed):
			return err
		case err != nil:
			s.config.Counters.Unsent.Add(1)
		default:
			sent.Add(1)
		}
		clear(p.aux[:cap(p.aux)]) // tensors are the core's: do not keep them alive
		clear(p.frames[:cap(p.frames)])
		if cap(p.payload) <= maxPooled {
			s.packets.Put(p)
		}
	}
	return nil
}
