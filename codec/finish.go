// SPDX-License-Identifier: Apache-2.0

package codec

import "strconv"

// FinishReason says why a request ended. vLLM: FinishReason, moved by one so
// that the zero value means that it has not.
type FinishReason uint8

// The reasons. A number n from the wire that is none of these is n+1.
const (
	FinishNone       FinishReason = iota
	FinishStop                    // a stop token, or the end of the text.
	FinishLength                  // MaxTokens or the model's length.
	FinishAbort                   // by a client, or the engine is going.
	FinishError                   // this request failed; it may be tried again.
	FinishRepetition              // RepetitionDetection struck.
)

// String gives vLLM's name in lower case, "none", or "unknown(9)" with the
// number on the wire.
func (f FinishReason) String() string {
	switch f {
	case FinishNone:
		return "none"
	case FinishStop:
		return "stop"
	case FinishLength:
		return "length"
	case FinishAbort:
		return "abort"
	case FinishError:
		return "error"
	case FinishRepetition:
		return "repetition"
	}
	return "unknown(" + strconv.Itoa(int(f)-1) + ")"
}

// reason gives what clients of the release know of f: they would not survive a
// number that is none of theirs. Before 0.13.0 a request that failed was
// aborted, and before 0.17.0 repetition could not end one.
func (l *Layout) reason(f FinishReason) FinishReason {
	switch {
	case int(f) <= l.reasons || f > FinishRepetition:
		return f
	case f == FinishRepetition:
		return FinishStop
	}
	return FinishAbort
}
