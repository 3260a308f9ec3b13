// SPDX-License-Identifier: Apache-2.0

// Package engine is the other end of the protocol: Serve puts any Core, a
// simulated one (Sim) included, behind the sockets of a vLLM engine, for any
// client, vLLM's own among them.
package engine

import (
	"time"

	"github.com/corepipe/corepipe/codec"
)

// Core is what an engine does, without clock, sockets or goroutines. One
// goroutine calls it. Serve waits in real or fake time; a simulation may as well
// drive many Cores in a loop over virtual time.
type Core interface {
	// Add takes a request. The Core owns it.
	Add(r *codec.Request)
	// Abort drops requests; unknown ids are ignored. There is no output for them.
	Abort(ids []string)
	// Step computes one step at the given time since the start: what it puts
	// out, to be sent took later. What is added or aborted meanwhile takes part
	// in the next step. nil and 0 mean that there is nothing to do until the
	// next Add, Abort or Utility. The Core may use the memory of o again at the
	// next Step.
	Step(now time.Duration) (o *codec.Outputs, took time.Duration)
	// Utility calls a method (vLLM: EngineCore.<method>). An error becomes the
	// reply's failure message.
	Utility(method string, args []any) (any, error)
}

// Mortal is what a Core implements that can die. Serve asks after each Step.
type Mortal interface {
	// Dead returns nil while the Core lives; else why it died, and whether it
	// still announces its death (vLLM: ENGINE_CORE_DEAD).
	Dead() (err error, announced bool) //nolint:revive // the error is the subject
}
