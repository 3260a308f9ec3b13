// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Client drives engines through a pipeline. All methods may be called from any
// goroutine. A Client must be closed; its Transport is its owner's.
type Client struct {
	config Config
	table  *Table
	group  *Group
	room   *semaphore.Weighted // Config.MaxInFlight live requests
	vacate func()              // gives the room of one request back

	input   transport.Conn
	outputs []Output
	open    context.Context    // ends when Close begins
	shut    context.CancelFunc // ends it
	life    context.Context    // of the launcher, the watch and the coordinator's reader
	stop    context.CancelFunc // ends it
	ended   chan struct{}      // closed when the pipeline has ended

	closing sync.Once
	closed  chan struct{} // closed when Close is done
	err     error         // what Close returns; set before closed is closed
}

// Submit sends r to an engine and returns the stream of its outputs. It works in
// the caller's goroutine and waits, up to ctx, only when MaxInFlight requests
// are live. ctx is also the request's life: when it ends before the stream has,
// the stream ends with its cause and the engine gets one ABORT.
//
// r, and all it points to, is the Client's from here on: neither side changes it
// any more. A resumable request whose id is live is a further chunk of that
// session: it needs no room, has the session's stream, and its ctx means nothing.
//
// Left out, ArrivalTime is now, and Sampling.MaxTokens what the model's length leaves, as
// vLLM's front end has it. Errors are *RequestError, with a *codec.FieldError
// for what an engine would choke on, ErrDuplicate, ErrClosed, or ctx's cause.
// What goes wrong later arrives on the stream. Its id should not be that of a
// request aborted a moment ago, whose late outputs cannot be told apart.
func (c *Client) Submit(ctx context.Context, r *codec.Request) (*Stream, error) {
	return c.submit(ctx, r, false)
}

// submit submits r; a raw one has no reader.
func (c *Client) submit(ctx context.Context, r *codec.Request, raw bool) (*Stream, error) {
	if r == nil {
		return nil, &RequestError{"", "submit", &codec.FieldError{Message: "request", Field: "request", Rule: "must not be nil"}}
	}
	if err := c.check(r); err != nil {
		return nil, &RequestError{r.ID, "submit", err}
	}
	if s, ok := c.table.chunk(r); ok {
		return s, nil
	}
	if err := c.acquire(ctx); err != nil {
		return nil, &RequestError{r.ID, "submit", err}
	}
	add, err := c.table.submit(r, raw, c.vacate)
	if err != nil || add.again {
		c.vacate()
	}
	if err != nil {
		return nil, &RequestError{r.ID, "submit", err}
	}
	if !add.again && !raw {
		add.stream.watch(ctx)
	}
	return add.stream, nil
}

// acquire waits for room for one more request, up to ctx or Close.
func (c *Client) acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.room.TryAcquire(1) {
		return nil
	}
	either, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.open, func() { cancel(ErrClosed) })()
	if c.room.Acquire(either, 1) != nil {
		return context.Cause(either)
	}
	return nil
}

// check validates r as it will be sent.
func (c *Client) check(r *codec.Request) error {
	p := r.Sampling
	if p == nil || p.MaxTokens != 0 {
		return r.Validate()
	}
	e := encoder{table: c.table}
	if err := e.fill(r); err != nil {
		return err
	}
	return e.request.Validate()
}

// Abort ends the live ones among ids with ErrAborted, at once, and tells each
// engine that has some of them, in one message. Other ids are ignored.
func (c *Client) Abort(_ context.Context, ids ...string) error {
	c.table.abort(ErrAborted, c.table.streams(ids)...)
	return nil
}

// Call calls a utility method (vLLM: EngineCore.<method>) on the engines of the
// given ranks, or on all that live when there are none, and waits for all
// replies, which come in the order of the ranks. A reply may take as long as the
// engine needs to drain. args are the Client's for good; each engine gets them in
// the form of its release (codec.Layout.CallArgs): a codec.LoRARequest as the array
// it reads, and a profile call's arguments as far as it knows them. The error joins those of
// the replies: *CallError when an engine refused, *EngineError when it died. When
// ctx ends first, what has come is returned with its cause.
func (c *Client) Call(ctx context.Context, method string, args []any, ranks ...int) ([]Reply, error) {
	if method == "handle_fault_tolerance" && !c.config.FaultTolerance {
		return nil, ErrFatalCall
	}
	return c.table.call(ctx, method, args, ranks)
}

// Engines tells what is known of each engine, in the order of the ranks.
func (c *Client) Engines() []EngineInfo { return c.table.Engines() }

// Counters tells what was survived.
func (c *Client) Counters() Counters { return c.table.Counters() }

// Addresses are what engines are to connect to: the input address, and the output
// address of each managed rank.
func (c *Client) Addresses() (input string, outputs []string) {
	for i := range c.table.engines {
		outputs = append(outputs, c.output(i).Conn.Endpoint())
	}
	return c.input.Endpoint(), outputs
}

// output is the one of the engine with the given managed index.
func (c *Client) output(i int) Output {
	if len(c.outputs) == 1 {
		return c.outputs[0]
	}
	return c.outputs[i]
}
