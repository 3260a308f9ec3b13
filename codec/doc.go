// SPDX-License-Identifier: Apache-2.0

// Package codec holds the messages of vLLM's EngineCore protocol, their msgpack
// form, and the layout of every vLLM release that is spoken. It starts no
// goroutines and does no I/O.
//
// A [Layout] stands for a range of releases. It writes and reads the two hot
// messages, [Request] (client to engine) and [Outputs] (engine to client), whose
// fields travel by position and move between releases. The rest has keys, or
// never changed, and needs no layout: [UtilityCall], [Ready], [Handshake],
// [Init], [Counts], aborts and waves.
//
// Encoders append to the caller's buffer. Decoders alias the frames they are
// given, so whoever decodes hands the frames over for good. Rare fields are
// decoded when asked for: [Output.Extra], [Outputs.Stats], [UtilityOutput.Result].
//
// An engine does not survive a message it cannot decode, and says nothing.
// [Request.Validate] therefore refuses beforehand whatever could do that, and
// every refusal is a [FieldError]. What arrives is trusted in nothing: malformed
// bytes are a [DecodeError], at the smallest unit that can be told apart, in
// memory that stays in proportion to the frame.
package codec
