// SPDX-License-Identifier: Apache-2.0

// Package replay sends a trace of requests through routing policies to simulated
// engines, in virtual time: no goroutines, no sockets and no sleeping, so that half
// a minute of sixteen engines takes some tens of milliseconds, and the same trace
// always gives the same numbers.
//
//	trace, err := replay.Workload{Rate: 160, Burstiness: 0.1}.Trace(1)
//	…
//	results, err := replay.Run(ctx, replay.Fleet{Engines: 16}, trace, &policy.LeastLoaded{}, &policy.ShortestWait{})
//	…
//	fmt.Println(results[0].TTFT.P99, results[1].TTFT.P99)
//
// A trace is made by a Workload, or read from a file with Read.
//
// # The client
//
// Policies are called as the route stage of package pipeline calls them, in the same
// order: fresh reports (Reported), what has happened (Observe), the choice (Pick),
// and what came of it (Routed). In-flight counts are exact. Load reports are what
// each engine said at the end of a step, passed on by a coordinator every so often;
// when that falls silent they are as old as they are, and Stale after a while.
// Outputs and requests take no time on the way.
//
// # The engines
//
// An engine works in steps like vLLM's: continuous batching in order of arrival, a
// token budget for a step into which prompts are put in chunks, a bound on the batch,
// and a KV cache in blocks of 16 tokens. Blocks that no running request uses are kept
// for later prompts that begin with the same tokens, and the ones unused longest give
// way. When there is no block left, the youngest request gives way and is prefilled
// again later. A step takes a fixed time, and more for each token prefilled and each
// request decoded, all over the engine's speed.
//
// This is a model of its own and not engine.Sim, which has neither a prefix cache nor
// chunked prefill, as it is there to speak the protocol exactly.
package replay
