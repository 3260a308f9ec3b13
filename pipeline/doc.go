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
// The six stages together cost about 0.3 µs an item, a tenth of one ZeroMQ
// message. What grows with tokens is decode and dispatch, with requests encode and
// route, with engines route's snapshot; nothing grows with the number of live
// streams but memory.
package pipeline
