// SPDX-License-Identifier: Apache-2.0

// Package policy chooses the engine that gets a request: a pure choice over a
// snapshot of the engines' load. It imports nothing of corepipe, so a policy can
// be tested, simulated and compared on its own.
//
// By load:
//   - [LeastLoaded]: vLLM's own choice, the default
//   - [LeastLoadedLegacy]: that of vLLM 0.19 to 0.25
//   - [ShortestWait]: learns how fast each engine is; the best for time to first token
//   - [LeastTokens]: fewest prompt and answer tokens still to do
//   - [PowerOfTwo]: the better of two at random, for very many engines
//   - [RoundRobin], [Random]: whatever the load
//
// By what an engine has, each bounded by load and over a Next policy for the rest:
//   - [Session]: where the session's earlier requests went
//   - [Prefix]: where the beginning of the prompt is cached
//   - [LoRA]: where the adapter is loaded
//   - [LateInteraction]: where the query's embedding is, as vLLM
//
// [Weighted] tells any of them of engines of unequal capacity.
//
// The zero value of each is ready for use. None reads a clock: time comes with
// requests and events, so that a simulation is exact, and the same calls always
// lead to the same choices. What a policy can do beyond Pick is found by
// assertion: [Reporter], [Tracker], [Explainer], [Decider]. One that wraps another
// passes all of them on.
package policy

import "time"

// Policy picks an engine. The route stage alone calls it, one call at a time,
// so a policy may hold state without a lock; the stage may run in the goroutine of
// whoever submits. Pins and streaming affinity are
// applied before it is asked, and dead or draining engines are left out.
type Policy interface {
	// Pick returns an index into engines, which is never empty, or -1 when none
	// will do. It must not block and not keep engines, which is reused. An
	// index out of range, or a panic, fails this request alone.
	Pick(r Request, engines []Engine) int
}

// Func is a Policy made of a function.
type Func func(r Request, engines []Engine) int

// Pick calls f.
func (f Func) Pick(r Request, engines []Engine) int { return f(r, engines) }

// Reporter is what a policy implements to hear of fresh load. The route stage
// calls Reported before the first Pick that sees it, with the engines that have
// reported since the last call. The slice is reused.
type Reporter interface{ Reported(engines []Engine) }

// Request is what a policy may know of a request. Tokens is read-only and not to
// be kept.
type Request struct {
	ID        string
	Tokens    []uint32 // prompt token ids; nil with prompt embeddings alone
	Prompt    int      // prompt length in tokens
	MaxTokens int      // output tokens at most
	Priority  int      // vLLM: EngineCoreRequest.priority
	LoRA      string   // adapter name; empty for the base model
	Session   string   // vLLM: EngineCoreRequest.session_id
	CacheSalt string   // vLLM: EngineCoreRequest.cache_salt
	QueryKey  string   // late-interaction key of a mode that binds to an engine
	Managed   int      // how many engines the client has, dead ones included; 0: those that Pick gets
	Clients   int      // front ends over the same engines, this one included; 0 means 1

	Slot int           // a small number that no other live request has; see Tracker
	Now  time.Duration // when it is routed, by the clock of the events
}

// Engine is one candidate's load. Waiting, Running and KVUsage are what it, or
// the coordinator, reported last; they are zero when the report is Stale.
type Engine struct {
	Rank     int
	Index    int           // among all the client has, dead ones included
	Waiting  int           // requests queued in the engine
	Running  int           // requests in its batch
	InFlight int           // our own requests on it, exact at any time
	KVUsage  float64       // share of the KV cache in use, 0 to 1
	Weight   float64       // capacity relative to the others; 0 means 1
	Age      time.Duration // since the report, or since the start when there was none
	Stale    bool          // the report is too old to be used
	Adapters []string      // LoRA adapters in use at its last report; nil when not known; read-only, not to be kept
}
