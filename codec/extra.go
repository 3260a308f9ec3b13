// SPDX-License-Identifier: Apache-2.0

package codec

// Logprobs are log probabilities of tokens. Column 0 is the sampled (or the
// prompt's) token, the others the likeliest in order. vLLM: LogprobsLists with
// numpy arrays, LogprobsTensors with torch ones.
type Logprobs struct {
	TokenIDs *Tensor // integer, shape [positions, columns].
	Logprobs *Tensor // float, the same shape.
	Ranks    *Tensor // integer, shape [positions], of column 0, from 1.
	// CU is nil in what a client receives. vLLM: cu_num_generated_tokens.
	CU       []int
	CUTensor *Tensor
}

// SamplingMask are the tokens that were left to choose from. vLLM:
// SamplingMaskLists.
type SamplingMask struct {
	TokenIDs *Tensor // integer, shape [kept].
	Offsets  *Tensor // integer, shape [positions+1]; nil for one position.
	CU       []int
}

// EventType says what happened to a request in the scheduler.
type EventType int

// The event types. vLLM: EngineCoreEventType.
const (
	EventQueued    EventType = 1
	EventScheduled EventType = 2
	EventPreempted EventType = 3
)

// Event has the engine's monotonic time in seconds. vLLM: EngineCoreEvent.
type Event struct {
	Type      EventType
	Timestamp float64
}

// PrefillStats counts prompt tokens by where their KV blocks came from. vLLM:
// PrefillStats.
type PrefillStats struct {
	NumPromptTokens         int
	NumComputedTokens       int
	NumCachedTokens         int
	NumLocalCachedTokens    int
	NumExternalCachedTokens int
	NumCacheCreationTokens  int
}

// SpecDecodeMetrics comes with the last output of a request. vLLM:
// RequestSpecDecodeMetrics.
type SpecDecodeMetrics struct {
	NumSpecTokens   int
	Histogram       []int // of accepted draft tokens, NumSpecTokens+1 long.
	NumDraftTokens  int
	PerStepAccepted []int
	PerStepDrafted  []int
}

// RequestError explains FinishError since 0.33.0. vLLM: RequestError.
type RequestError struct {
	Code      string
	Message   string
	Retryable bool
}
