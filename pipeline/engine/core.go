// SPDX-License-Identifier: Apache-2.0

// Package engine is the other end of the protocol: Serve puts any Core, a
// simulated one (Sim) included, behind the sockets of a vLLM engine, for any
// client, vLLM's own among them. Cores does the same for a pipeline.Client in
// this process, so that code which uses one can be tested without a GPU:
//
//	func TestMyCode(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			client, err := pipeline.Connect(t.Context(), pipeline.Config{
//				Transport: new(inproc.Network),
//				Launch:    engine.Cores{&engine.Sim{StepTime: 20 * time.Millisecond}},
//			})
//			if err != nil {
//				t.Fatal(err)
//			}
//			defer client.Close(t.Context())
//			myCode(client)
//		})
//	}
//
// NewLockstep makes Cores that step together, as the ranks of a mixture-of-experts
// model do, and Serve speaks to the coordinator that wakes them.
package engine

import (
	"time"

	"github.com/corepipe/corepipe/codec"
)

// Core is what an engine does, without clock, sockets or goroutines. One
// goroutine calls it. Serve waits in real or fake time; a simulation may as well
// drive many Cores in a loop over virtual time.
type Core interface {
	// Add takes a request. The Core owns it. Its id is not in use, except by an
	// earlier piece of the same session (Resumable).
	Add(r *codec.Request)
	// Abort drops requests; unknown ids are ignored. There is no output for them.
	Abort(ids []string)
	// Step computes one step at the given time since the start: what it puts
	// out, to be sent took later. What is added or aborted meanwhile takes part
	// in the next step. nil and 0 mean that there is nothing to do until the
	// next Add, Abort or Utility. o is the caller's, who may change it, until the
	// next Step; then the Core may use its memory again.
	Step(now time.Duration) (o *codec.Outputs, took time.Duration)
	// Utility calls a method (vLLM: EngineCore.<method>). An error becomes the
	// reply's failure message.
	Utility(method string, args []any) (any, error)
}

// Mortal is what a Core implements that can die. Serve asks after each Step.
type Mortal interface {
	// Dead returns nil while the Core lives; else why it died, and whether it
	// still announces its death (vLLM: ENGINE_CORE_DEAD).
	Dead() (err error, announced bool)
}

// Waver is what a Core implements that hears of others being woken, as a Rank does.
// Without it START_DP_WAVE is ignored.
type Waver interface {
	StartWave(wave int, exclude codec.Exclude)
}

// Loader is what a Core implements that knows how loaded it is, for a coordinator
// to be told. Without it all of its requests count as running. Serve asks before
// and after each Step.
type Loader interface {
	Load() codec.Load
}

// Dummy is what a Core implements that takes time for a step without requests, as
// a rank of a lockstep group does when others have some. vLLM:
// execute_dummy_batch.
type Dummy interface {
	DummyStep() time.Duration
}

// Describer is what a Core implements that knows what its engine says of itself.
// Serve asks once, before the first Add; Config.Ready goes before it.
type Describer interface {
	Ready() codec.Ready
}
