// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/corepipe/corepipe/codec"
)

// Stream is the answer to one request. One goroutine reads it. What arrives
// while nobody reads is kept: outputs of nothing but tokens are merged, 4 bytes a
// token, and others (logprobs, …) are copied out of their message. So a slow
// reader costs itself alone and dispatch never waits.
type Stream struct {
	// What dispatch looks at for each token comes first: of a thousand streams none is
	// in the cache when its token comes, so that every line of memory counts.
	id       string
	released atomic.Bool // no longer in the Table; set under Table.mu
	raw      bool        // nobody reads it: the raw feed has its outputs
	row      int32       // in its engine's last step; the dispatch stage's, under engine.mu
	interval int         // tokens to wake a waiting reader for; 0 and 1: any

	mu      sync.Mutex
	waiting bool // the reader is to be woken
	begun   bool // it has had its first output
	ended   bool // nothing more will come
	plain   bool // there are tokens or a finish
	owned   bool // tokens is our own memory
	finish  codec.FinishReason
	held    int       // tokens that have come since the reader looked
	tokens  []uint32  // and finish are the last output not read, of nothing else
	kick    sync.Cond // on mu: the reader, which waits, is to look again
	rich    unread    // outputs before it that have more to them
	err     error     // why it ended; nil for a finish of the engine's
	contexts

	engine    atomic.Pointer[engine] // set once by the route stage; nil before
	table     *Table
	onRelease func() // called once when released; nil for none
	account
	add Add // of the request that made it
}

// ID is the request's id.
func (s *Stream) ID() string { return s.id }

// Rank is the engine that has the request; -1 while none was chosen.
func (s *Stream) Rank() int {
	if e := s.engine.Load(); e != nil {
		return e.rank
	}
	return -1
}

// Next returns what has arrived since the last call, or waits for it. Tokens
// hold the tokens since then, often one; Finish is set on the last output,
// after which Next returns io.EOF, or a *FinishError if the engine did not
// finish the request as asked. ID is left out. ctx bounds this wait alone: the
// request goes on when it ends. Other errors end the stream and are returned
// ever after: an *EngineError, or a *RequestError around ErrAborted, ErrClosed,
// the cause of Submit's context, or what went wrong on the way.
func (s *Stream) Next(ctx context.Context) (codec.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.plain && s.rich.empty() && !s.ended {
		s.follow(ctx)
		if ctx.Err() != nil {
			return codec.Output{}, context.Cause(ctx)
		}
		s.held, s.waiting = 0, true
		s.kick.Wait()
	}
	switch {
	case !s.rich.empty():
		return s.rich.take(), nil
	case s.plain:
		out := codec.Output{Tokens: s.tokens, Finish: s.finish}
		s.tokens, s.plain, s.owned = nil, false, false
		return out, nil
	case s.err == nil:
		return codec.Output{}, io.EOF
	}
	return codec.Output{}, s.err
}

// All yields the outputs as Next returns them; an error comes last, with an
// empty output. When ctx ends, or the loop is left early, the stream is closed.
func (s *Stream) All(ctx context.Context) iter.Seq2[codec.Output, error] {
	return func(yield func(codec.Output, error) bool) {
		defer s.Close()
		for {
			out, err := s.Next(ctx)
			if err == io.EOF { //nolint:errorlint // Next returns it bare
				return
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// Close aborts the request if it still runs: the stream ends at once with
// ErrAborted, and its engine gets one ABORT. It never blocks.
func (s *Stream) Close() { s.table.abort(ErrAborted, s) }

// deliver hands the reader an output; the caller has released the stream when
// it is the last one.
func (s *Stream) deliver(o *codec.Output, end error) {
	if s.raw {
		return
	}
	s.mu.Lock()
	var over contexts
	if !s.ended {
		s.merge(o)
		if o.Finish != codec.FinishNone {
			s.ended, s.err, over = true, end, s.contexts
		}
	}
	s.held += len(o.Tokens)
	waits := false
	if s.ended || !s.begun || s.held >= s.interval {
		s.begun, waits = true, s.wake()
	}
	s.mu.Unlock()
	if waits {
		s.kick.Signal() // without mu, which it would find taken
	}
	over.forget()
}

// merge adds o to what is not read. What is nothing but tokens is joined.
func (s *Stream) merge(o *codec.Output) {
	switch {
	case !o.Plain():
		s.part()
		s.rich.put(o)
	case !s.plain:
		s.tokens, s.finish, s.plain = o.Tokens, o.Finish, true
	default:
		if !s.owned { // the tokens are a part of a whole step's: let go of that
			s.tokens = append(make([]uint32, 0, 2*(len(s.tokens)+len(o.Tokens))), s.tokens...)
			s.owned = true
		}
		s.tokens = append(s.tokens, o.Tokens...)
		s.finish = o.Finish
	}
}

// part moves the plain output to those before it, for another comes behind.
func (s *Stream) part() {
	if s.plain {
		s.rich.add(codec.Output{Tokens: s.tokens, Finish: s.finish})
		s.tokens, s.plain, s.owned = nil, false, false
	}
}

// fail releases the stream and ends it with a *RequestError.
func (s *Stream) fail(op string, err error) {
	if !s.table.release(s) {
		return
	}
	failure := &RequestError{ID: s.id, Op: op, Err: err}
	if s.raw {
		s.table.feedEnd(s.Rank(), failure)
	}
	s.end(failure)
}

// wrap gives the end of a running request its id.
func (s *Stream) wrap(cause error) error {
	if r := (*RequestError)(nil); errors.As(cause, &r) {
		return cause
	}
	return &RequestError{ID: s.id, Op: "run", Err: cause}
}

// end is the end without a finish. The caller has released the stream.
func (s *Stream) end(err error) {
	if s.raw {
		return
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended, s.err = true, err
	over := s.contexts
	s.waiting = false
	s.mu.Unlock()
	s.kick.Signal()
	over.forget()
}

// wake says whether kick is to be signalled: the reader waits, and nobody has woken it
// yet. mu is held.
func (s *Stream) wake() bool {
	waits := s.waiting
	s.waiting = false
	return waits
}
