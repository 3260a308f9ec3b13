// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"

	"github.com/corepipe/corepipe/codec"
)

// Outcome is what a script has happen to a request of a Sim. The zero value is
// nothing out of the ordinary.
type Outcome struct {
	// Tokens are given, one a step, instead of those of the formula. After the
	// last one the request ends, with FinishStop if Finish and Err say nothing.
	Tokens []uint32
	// After is how many tokens the request gets before what follows strikes.
	// Default: all of Tokens, or none.
	After int
	// Finish ends the request, on the last token if there is any.
	Finish codec.FinishReason
	// Err ends the request with FinishError and, since release 0.33.0, this
	// message.
	Err string
	// Stall has the engine put out nothing any more, for any request. It still
	// answers utility calls.
	Stall bool
	// Die ends the engine, announced unless Silent. The step's outputs are lost.
	Die, Silent bool
}

// errScript is why a Sim died.
var errScript = errors.New("as scripted")

// scripted is an Outcome made ready for the steps.
type scripted struct {
	Outcome
	strikes int // tokens before it strikes
}

// newScripted is nil for the zero Outcome.
func newScripted(o Outcome) *scripted {
	if o.Err != "" {
		o.Finish = codec.FinishError
	}
	if o.Tokens != nil && o.Finish == codec.FinishNone {
		o.Finish = codec.FinishStop
	}
	if o.Finish == codec.FinishNone && !o.Stall && !o.Die {
		return nil
	}
	s := &scripted{Outcome: o, strikes: max(o.After, 0)}
	if o.Tokens != nil && (s.strikes == 0 || s.strikes > len(o.Tokens)) {
		s.strikes = len(o.Tokens)
	}
	return s
}

// fatal says that the whole engine is struck, at a request with so many tokens.
func (s *scripted) fatal(done int) bool { return s != nil && (s.Stall || s.Die) && done >= s.strikes }

// final says that the request ends at so many tokens.
func (s *scripted) final(done int) bool {
	return s != nil && s.Finish != codec.FinishNone && done >= s.strikes
}
