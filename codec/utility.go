// SPDX-License-Identifier: Apache-2.0

package codec

// CallID ties an answer to its call. Python's are the upper half of a UUID, so
// all 64 bits are used; two negative ones mark notifications. Comparable.
type CallID struct {
	N        uint64 // the absolute value.
	Negative bool
}

// UtilityCall asks an engine to run one of its methods; there is no list of
// allowed names. vLLM: the payload of a UTILITY message.
type UtilityCall struct {
	// ClientIndex chooses the output socket of the answer.
	ClientIndex int
	CallID      CallID
	Method      string
	// Args go through AppendValue. Fewer than the method takes is fine.
	Args []any
}

// UtilityOutput is the answer to a UtilityCall, or a notification. vLLM:
// UtilityOutput.
type UtilityOutput struct {
	CallID CallID
	// Failure is the engine's message; see Failed. vLLM: failure_message.
	Failure string

	failed bool
	raw    []byte // the value of UtilityResult, unread.
	aux    [][]byte
	value  any
}
