// SPDX-License-Identifier: Apache-2.0

// Package pipeline drives vLLM engines through goroutine stages joined by typed
// channels. A Client is the default joining of them:
//
//	Submit → encode → route → send ⇒ engine ⇒ receive → decode → dispatch → Stream
//
// Follow a request through client.go, encode.go, route.go, send.go, then
// receive.go, decode.go, dispatch.go and stream.go; wire.go joins the stages, and
// Config.Wire joins them otherwise. The Table is the state that they share.
//
// # Cost
//
// Measured on two shared cores, where a message over ipc takes 2 µs: the six stages
// by themselves 0.4 µs an item; a request of 128 tokens 1.3 µs to encode and 1.5 µs
// to route (50 ns more for each further engine); a step of 256 requests 25 µs to
// decode and dispatch, 0.1 µs each, with 4 allocations. The reader's wake-up costs
// more than all of that: about 1 µs for each output that is waited for. Nothing
// grows with the number of live streams but memory. bench_test.go measures it.
package pipeline
