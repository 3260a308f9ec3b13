// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/transport"
)

// Command is what enters the pipeline: *Add, *Abort, *Call or *StartWave. All
// kinds pass one chain, so an Add is sent before the Abort of its id.
type Command interface {
	// Fail ends what the command stands for: the Add's stream or the Call.
	// A stage that drops a command calls it.
	Fail(err error)
	command() // sealed
}

// Add submits a request; Table.Admit makes it. A stage before encode may put
// another Request in the place of this one, under the same id.
type Add struct {
	Request *codec.Request
	stream  *Stream
	checked *codec.Request // what Submit found valid; nil where nobody has looked
	again   bool           // a further chunk of a session; the stream was there
	routed  bool           // the route stage has had it
}

// Abort ends requests. Engines skip ids that they do not have.
type Abort struct {
	streams []*Stream
	// probe asks the transport whether this engine is there, by an abort of no
	// ids; 0 streams and nil is an abort of nothing.
	probe *engine
}

// Call is one utility call to one engine; Client.Call makes it.
type Call struct {
	Rank   int
	Method string
	Args   []any
	id     codec.CallID
	done   chan Reply // takes one reply
	table  *Table
}

// StartWave wakes every rank of a lockstep group but one (vLLM: START_DP_WAVE).
type StartWave struct {
	Wave    int
	Exclude codec.Exclude
}

func (*Add) command()       {}
func (*Abort) command()     {}
func (*Call) command()      {}
func (*StartWave) command() {}

// Fail ends the stream with a *RequestError.
func (a *Add) Fail(err error) {
	if a.stream == nil {
		return // nobody's
	}
	op := "submit"
	if o, ok := err.(*opError); ok { //nolint:errorlint // always outermost
		op, err = o.op, o.err
	}
	if a.again { // the engine has the session
		a.stream.table.abort(&RequestError{ID: a.stream.id, Op: op, Err: err}, a.stream)
		return
	}
	a.stream.fail(op, err)
}

// opError tells Fail where on its way a command failed.
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.op + ": " + e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// IDs are the requests to be aborted.
func (a *Abort) IDs() []string {
	ids := make([]string, len(a.streams))
	for i, s := range a.streams {
		ids[i] = s.id
	}
	return ids
}

// Fail does nothing: the streams have ended already.
func (*Abort) Fail(error) {}

// Fail gives the caller err.
func (c *Call) Fail(err error) {
	if c.table != nil {
		c.table.reply(c.id, Reply{Rank: c.Rank, Err: err})
	}
}

// Fail does nothing: nobody waits for a wave.
func (*StartWave) Fail(error) {}

// Encoded is a command with its frames, for an engine of Layout that is still to
// be chosen. An Abort has no frames yet: the route stage knows which engine has
// which id.
type Encoded struct {
	Command Command
	Layout  *codec.Layout // nil where the layout does not matter
	message
}

// Fail fails the command.
func (e Encoded) Fail(err error) {
	if e.Command != nil {
		e.Command.Fail(err)
	}
}

// Routed is a packet for one engine.
type Routed struct {
	Command Command
	Rank    int
	Packet  transport.Packet
	engine  *engine
	epoch   uint64 // the engine's when the packet was routed
	message
}

// Fail fails the command.
func (r Routed) Fail(err error) {
	if r.Command != nil {
		r.Command.Fail(err)
	}
}

// Decoded is one message of an engine.
type Decoded struct {
	Rank int // of the output socket's engine; -1 when engines share it
	// Outputs is used again once it is dispatched: a stage that keeps something of
	// it copies the rows (slices.Clone).
	Outputs *codec.Outputs
	// Dead says that the engine announced its end, or that nothing it sends
	// can be decoded; Err has the cause.
	Dead bool
	Err  error
	lent lent // what Outputs is in
}
