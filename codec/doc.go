// SPDX-License-Identifier: Apache-2.0

// Package codec holds the messages of vLLM's EngineCore protocol, their msgpack
// form, and the layout of every vLLM release that is spoken. It starts no
// goroutines and does no I/O.
//
// A [Layout] stands for a range of releases, from 0.9.2 on. It writes and reads
// the two hot messages, [Request] (client to engine) and [Outputs] (engine to
// client), whose fields travel by position and move between releases. The rest
// has keys, or hardly changed, and needs none: [UtilityCall], [Ready],
// [Handshake], [Init], [Counts], aborts and waves.
//
// A key that a release does not know is never sent to it, and an older name is
// used where there is one. A field of a request that it lacks is an error that
// wraps [ErrUnsupported] where the answer depends on it, and else left out in
// silence: [Layout.Holds] says which. Of outputs, what a client of the release
// would not look for is left out. What releases do differently besides is asked
// of the layout: [Layout.FirstRequest], [Layout.CallArgs], [Layout.AppendCounts].
//
// Encoders append to the caller's buffer. Decoders alias the frames they are
// given, so whoever decodes hands the frames over for good. Rare fields are
// decoded when asked for: [Output.Extra], [Outputs.Stats], [UtilityOutput.Result].
//
// An engine does not survive a message it cannot decode, and says nothing.
// [Request.Validate] therefore refuses beforehand whatever could do that, and
// every refusal is a [FieldError]. What arrives is trusted in nothing: malformed
// bytes are a [DecodeError], at the smallest unit that can be told apart, in
// memory that stays in proportion to the frame: depth is bounded, and announced
// lengths are compared with the bytes that are left before room is made.
//
// Three kinds of value are not read, and an error says which it met: pickles
// (extension 1) and cloudpickles (extension 2), which an insecure vLLM sends and
// which only running them would tell, and tensors in the memory of the engine's
// machine (torch_shm). They spoil the row, the result or the request they are in
// and nothing else. Tensors inline and in frames of their own are read.
package codec
