// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// peer is an engine's end of the wire, worked by hand.
type peer struct {
	t       *testing.T
	rank    int
	in, out transport.Conn
	layout  *codec.Layout
}

// message is what a peer got.
type message struct {
	kind    codec.Kind
	request *codec.Request
	ids     []string
	call    *codec.UtilityCall
}

// dial connects a peer to the given addresses; it has said nothing yet.
func dial(t *testing.T, net transport.Transport, input, output string, rank int) *peer {
	t.Helper()
	p := &peer{t: t, rank: rank, layout: defaultLayout(t)}
	for conn, s := range map[*transport.Conn]transport.Socket{
		&p.in:  {Pattern: transport.Dealer, Endpoint: input, Identity: []byte{byte(rank), byte(rank >> 8)}},
		&p.out: {Pattern: transport.Push, Endpoint: output},
	} {
		c, err := net.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		*conn = c
		t.Cleanup(func() { _ = c.Close() })
	}
	return p
}

// speaking makes the peer one of another release.
func (p *peer) speaking(release string) *peer {
	l, err := codec.LayoutOf(release)
	if err != nil {
		p.t.Fatal(err)
	}
	p.layout = l
	return p
}

// ready says the ready message.
func (p *peer) ready(r codec.Ready) *peer {
	b, err := codec.AppendReady(nil, &r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(p.in, b)
	return p
}

func (p *peer) send(c transport.Conn, frames ...[]byte) {
	p.t.Helper()
	if err := c.Send(transport.Packet{Frames: frames, Shared: len(frames)}); err != nil {
		p.t.Fatal(err)
	}
}

// next waits for a message that is no probe.
func (p *peer) next() message {
	p.t.Helper()
	for {
		if m := p.any(); m.kind != codec.Abort || len(m.ids) > 0 {
			return m
		}
	}
}

// any waits for a message.
func (p *peer) any() message {
	p.t.Helper()
	got, err := p.in.Recv(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	m := message{kind: codec.Kind(got.Frames[0][0])}
	switch m.kind {
	case codec.Add:
		m.request, err = p.layout.DecodeRequest(got.Frames[1:])
	case codec.Abort:
		m.ids, err = codec.DecodeAbort(got.Frames[1])
	case codec.Utility:
		m.call, err = codec.DecodeUtility(got.Frames[1])
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// silent fails the test if there is a message within d of fake time.
func (p *peer) silent(d time.Duration) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), d)
	defer cancel()
	if got, err := p.in.Recv(ctx); err == nil {
		p.t.Fatalf("engine %d got %x", p.rank, got.Frames)
	}
}

// put sends outputs.
func (p *peer) put(o codec.Outputs) {
	p.t.Helper()
	o.Engine = p.rank
	b, aux, err := p.layout.AppendOutputs(nil, nil, &o)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.out.Send(transport.Packet{Frames: append([][]byte{b}, aux...), Shared: 1}); err != nil {
		p.t.Fatal(err)
	}
}

// row is one output.
func row(id string, finish codec.FinishReason, tokens ...uint32) codec.Output {
	return codec.Output{ID: []byte(id), Tokens: tokens, Finish: finish}
}

func (p *peer) rows(rows ...codec.Output) {
	p.t.Helper()
	p.put(codec.Outputs{Rows: rows, Timestamp: 1})
}

// fixed are addresses for a client of peers.
const fixedInput, fixedOutput = "inproc://in", "inproc://out"

// connect makes a client of n peers that are ready.
func connect(t *testing.T, n int, change ...func(*pipeline.Config)) (*pipeline.Client, []*peer, *inproc.Network) {
	t.Helper()
	return connectReleases(t, slices.Repeat([]string{codec.DefaultRelease}, n), change...)
}

// connectReleases makes a client of one peer of each release, which says so.
func connectReleases(t *testing.T, releases []string, change ...func(*pipeline.Config)) (*pipeline.Client, []*peer, *inproc.Network) {
	t.Helper()
	net := new(inproc.Network)
	c := pipeline.Config{Transport: net, Engines: len(releases), Input: fixedInput, Output: fixedOutput}
	for _, f := range change {
		f(&c)
	}
	peers := make([]*peer, len(releases))
	for i, release := range releases {
		peers[i] = dial(t, net, c.Input, c.Output, c.FirstRank+i).speaking(release).ready(codec.Ready{MaxModelLen: 100, Version: release})
	}
	client, err := pipeline.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, client) })
	return client, peers, net
}

// shut closes without waiting for requests.
func shut(t *testing.T, c *pipeline.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := c.Close(ctx)
	var p *pipeline.PanicError // which a test meant
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &p) {
		t.Errorf("close: %v", err)
	}
}

// simple is a request of a few tokens.
func simple(id string) *codec.Request {
	return &codec.Request{ID: id, Prompt: []uint32{1, 2, 3}, Sampling: &codec.SamplingParams{MaxTokens: 8}}
}

func submit(t *testing.T, c *pipeline.Client, r *codec.Request) *pipeline.Stream {
	t.Helper()
	s, err := c.Submit(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read takes everything to the end.
func read(s *pipeline.Stream) (tokens []uint32, finish codec.FinishReason, err error) {
	for {
		o, err := s.Next(context.Background())
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return tokens, finish, err
		}
		tokens = append(tokens, o.Tokens...)
		if o.Finish != codec.FinishNone {
			finish = o.Finish
		}
	}
}

// failure is the error that a stream ends with.
func failure(s *pipeline.Stream) error {
	_, _, err := read(s)
	return err
}

// wireWith is Wire with a stage more in front.
func wireWith(first pipeline.Stage[pipeline.Command, pipeline.Command]) func(*pipeline.Group, pipeline.Parts) {
	return func(g *pipeline.Group, p pipeline.Parts) {
		commands := pipeline.Via(g, "first", pipeline.From(g, "submit", p.Buffer, p.Commands), p.Buffer, first)
		encoded := pipeline.Via(g, "encode", commands, p.Buffer, pipeline.Encode(p.Table))
		routed := pipeline.Via(g, "route", encoded, p.Buffer, pipeline.Route(p.Policy, p.Table))
		pipeline.To(g, "send", routed, pipeline.Send(p.Input, p.Table))
		receiving(g, p)
	}
}

// receiving is the half of Wire that receives.
func receiving(g *pipeline.Group, p pipeline.Parts) {
	pipeline.To(g, "register", pipeline.From(g, "ready", p.Buffer, pipeline.Receive(p.Input)), pipeline.Register(p.Table))
	for _, o := range p.Outputs {
		packets := pipeline.From(g, "receive", p.Buffer, pipeline.Receive(o.Conn))
		outputs := pipeline.Via(g, "decode", packets, p.Buffer, pipeline.Decode(p.Table, o.Rank))
		pipeline.To(g, "dispatch", outputs, pipeline.Dispatch(p.Table))
	}
}
