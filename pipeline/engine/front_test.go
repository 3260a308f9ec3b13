// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// layout is what tests speak.
func layout(t testing.TB) *codec.Layout {
	t.Helper()
	l, err := codec.LayoutOf(codec.DefaultRelease)
	must(t, err)
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// front is a front end by hand: it binds a client's addresses and speaks frames.
type front struct {
	t      *testing.T
	input  transport.Conn
	output transport.Conn
	peer   string
	layout *codec.Layout
}

// rig is one engine under Serve with its front ends.
type rig struct {
	*front
	fronts []*front
	stop   context.CancelFunc
	done   chan error // Serve's
}

// listen binds what a front end has; it ends with the test.
func listen(t *testing.T, n transport.Transport, client int) *front {
	t.Helper()
	open := func(p transport.Pattern, name string) transport.Conn {
		conn, err := n.Open(t.Context(), transport.Socket{
			Pattern: p, Endpoint: fmt.Sprintf("inproc://%s%d", name, client), Bind: true,
		})
		must(t, err)
		t.Cleanup(func() { must(t, conn.Close()) })
		return conn
	}
	return &front{t: t, input: open(transport.Router, "in"), output: open(transport.Pull, "out"), layout: layout(t)}
}

// serve runs core for some clients, who have seen its ready message. The engine
// ends with the test, or before.
func serve(t *testing.T, core engine.Core, clients int, edit ...func(*engine.Config)) *rig {
	t.Helper()
	network := new(inproc.Network)
	c := engine.Config{Transport: network}
	r := &rig{done: make(chan error, 1)}
	for i := range clients {
		f := listen(t, network, i)
		r.fronts = append(r.fronts, f)
		c.Inputs, c.Outputs = append(c.Inputs, f.input.Endpoint()), append(c.Outputs, f.output.Endpoint())
	}
	for _, f := range edit {
		f(&c)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.front, r.stop = r.fronts[0], stop
	go func() {
		r.done <- engine.Serve(ctx, c, core)
		close(r.done)
	}()
	t.Cleanup(func() {
		stop()
		<-r.done
	})
	for _, f := range r.fronts {
		f.ready()
	}
	return r
}

// end stops the engine and returns Serve's error.
func (r *rig) end() error {
	r.stop()
	return <-r.done
}

// ready takes the ready message.
func (f *front) ready() *codec.Ready {
	f.t.Helper()
	p, err := f.input.Recv(f.t.Context())
	must(f.t, err)
	f.peer = p.Peer
	ready, err := codec.DecodeReady(p.Frames[0])
	must(f.t, err)
	return ready
}

// send sends frames as they are.
func (f *front) send(frames ...[]byte) {
	f.t.Helper()
	must(f.t, f.input.Send(transport.Packet{Peer: f.peer, Frames: frames, Shared: len(frames)}))
}

func (f *front) add(requests ...*codec.Request) {
	f.t.Helper()
	for _, r := range requests {
		payload, aux, err := f.layout.AppendRequest(nil, nil, r)
		must(f.t, err)
		f.send(append([][]byte{{byte(codec.Add)}, payload}, aux...)...)
	}
}

// together adds requests so that one step is the first of all.
func (f *front) together(requests ...*codec.Request) {
	f.t.Helper()
	f.call(codec.UtilityCall{Method: "pause_scheduler", Args: []any{"keep"}})
	f.add(requests...)
	f.call(codec.UtilityCall{Method: "resume_scheduler"})
	f.next()
	f.next()
}

func (f *front) abort(ids ...string) {
	f.t.Helper()
	f.send([]byte{byte(codec.Abort)}, codec.AppendAbort(nil, ids...))
}

func (f *front) call(c codec.UtilityCall) {
	f.t.Helper()
	payload, err := codec.AppendUtility(nil, &c)
	must(f.t, err)
	f.send([]byte{byte(codec.Utility)}, payload)
}

// next is the next message to this client.
func (f *front) next() *codec.Outputs {
	f.t.Helper()
	p, err := f.output.Recv(f.t.Context())
	must(f.t, err)
	o, err := f.layout.DecodeOutputs(p.Frames)
	must(f.t, err)
	if o.Timestamp <= 0 {
		f.t.Errorf("timestamp is %v, want more than 0", o.Timestamp)
	}
	return o
}

// dead takes the death notice.
func (f *front) dead() {
	f.t.Helper()
	p, err := f.output.Recv(f.t.Context())
	must(f.t, err)
	if !codec.IsDead(p.Frames) {
		f.t.Errorf("got %q, want the death notice", p.Frames)
	}
}

// silent checks that nothing comes for a (fake) minute.
func (f *front) silent() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	if p, err := f.output.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		f.t.Errorf("got %q, %v, want silence", p.Frames, err)
	}
}

// answer reads until every id has finished, and returns the tokens and reasons.
func (f *front) answer(ids ...string) (tokens map[string][]uint32, finish map[string]codec.FinishReason) {
	f.t.Helper()
	tokens, finish = map[string][]uint32{}, map[string]codec.FinishReason{}
	for len(finish) < len(ids) {
		for _, row := range f.next().Rows {
			id := string(row.ID)
			if !slices.Contains(ids, id) {
				f.t.Fatalf("output of %q, want %q only", id, ids)
			}
			tokens[id] = append(tokens[id], row.Tokens...)
			if row.Finish != codec.FinishNone {
				finish[id] = row.Finish
			}
		}
	}
	return tokens, finish
}

// generate is an ordinary request for n tokens.
func generate(id string, n int, prompt ...uint32) *codec.Request {
	if prompt == nil {
		prompt = []uint32{1, 2, 3}
	}
	return &codec.Request{ID: id, Prompt: prompt, Sampling: &codec.SamplingParams{MaxTokens: n, IgnoreEOS: true}}
}

// formula gives n tokens as the C mock engine does.
func formula(r *codec.Request, n int, vocab uint64) []uint32 {
	h := fnv.New32a()
	h.Write([]byte(r.ID))
	seed := h.Sum32()
	for _, token := range r.Prompt {
		seed += token
	}
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = uint32((uint64(seed) + uint64(i)*2654435761) % (1 << 32) % vocab)
	}
	return tokens
}

// bubble runs each case by its name in fake time.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// pass lets time go by inside a bubble, where it is not waited for.
func pass(d time.Duration) { time.Sleep(d) }

// ended is a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(nil)
	return ctx
}
