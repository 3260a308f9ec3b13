// SPDX-License-Identifier: Apache-2.0

package codec

import "strconv"

// Kind is the one byte of the frame that precedes the payload on an engine's
// input socket. vLLM: EngineCoreRequestType. An engine that reads any other
// byte, or a frame of another length, stops reading for good.
type Kind byte

// The kinds of message an engine reads.
const (
	// Add carries a Request.
	Add Kind = 0
	// Abort carries an array of request ids; see AppendAbort.
	Abort Kind = 1
	// StartWave carries a wave and whom it excludes; see AppendStartWave.
	StartWave Kind = 2
	// Utility carries a UtilityCall.
	Utility Kind = 3
	// ExecutorFailed is the engine's message to itself. Never send it: the
	// engine obeys and dies.
	ExecutorFailed Kind = 4
	// Wakeup is the engine's message to itself, and does nothing.
	Wakeup Kind = 5
)

// String gives vLLM's name in lower case, or "unknown(7)".
func (k Kind) String() string {
	switch k {
	case Add:
		return "add"
	case Abort:
		return "abort"
	case StartWave:
		return "start wave"
	case Utility:
		return "utility"
	case ExecutorFailed:
		return "executor failed"
	case Wakeup:
		return "wakeup"
	}
	return "unknown(" + strconv.Itoa(int(k)) + ")"
}

// DeadSentinel is the whole of an engine's last message. It is no msgpack and
// names no engine. vLLM: ENGINE_CORE_DEAD.
const DeadSentinel = "ENGINE_CORE_DEAD"

// IsDead reports whether frames are an engine's death notice: exactly one
// frame, with the bytes of DeadSentinel. It costs one compare.
func IsDead(frames [][]byte) bool {
	return len(frames) == 1 && string(frames[0]) == DeadSentinel
}
