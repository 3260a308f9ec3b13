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
// A stage whose goroutine idles is called by the one before it (joint.go), and by
// Submit itself: a request is sent, and a step delivered, by the goroutine that
// brings it. Busy stages get their values by the channel.
//
// # Cost
//
// Measured on two shared cores; bench_test.go and cost_test.go measure it anew.
//
//	what                            time                      allocations   grows with
//	a stage, called                 0.1 µs an item            0             nothing
//	a stage, by its channel         0.15 µs, and 10 or more   0             nothing
//	                                of CPU where it sleeps
//	a request, from Submit to its   6 µs of 128 tokens,       its Stream    prompt tokens, 2 ns
//	end, without the transport      14 µs of 4096                           each (4.5 over ZeroMQ)
//	of it: check and encode         0.7 µs, 8 µs              0             prompt tokens
//	of it: route, LeastLoaded       0.5 µs                    0             engines, 30 ns each
//	a message, decoded, dispatched  1 µs and 0.1 µs a row     1 (tokens)    rows
//	an output taken by Next         0.05 µs                   0             nothing
//	an output that wakes a reader   0.3 to 1 µs more          0             nothing
//	a context that may end          0.5 µs a request          3 a request   nothing
//	ZeroMQ: a frame sent            0.2 µs and its copy       0             bytes
//	ZeroMQ: a message received      1 µs and its copy         3, or 4 if    bytes
//	                                                          it waited
//
// Nothing grows with the number of live streams but memory: 320 bytes a stream, its
// request, and the goroutine of a reader. At paced steps the wake-ups of threads cost
// more than all of that, once a message and not once a token: many engines with few
// requests each are the dearest. What an output that wakes a reader costs is what any
// goroutine costs to wake (BenchmarkWake); Config.StreamInterval wakes it for several
// tokens, and Client.Outputs not at all.
package pipeline
