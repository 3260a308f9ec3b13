// SPDX-License-Identifier: Apache-2.0

package codec

// Outputs is what one engine step tells one client. vLLM: EngineCoreOutputs.
// Decoded outputs alias their frames, so whoever decodes gives the frames away.
type Outputs struct {
	// Engine is the data-parallel rank. vLLM: engine_index.
	Engine int
	// Rows has at most one entry a request. vLLM: outputs.
	Rows []Output
	// Timestamp is in seconds on the engine's monotonic clock.
	Timestamp float64
	// Utility answers a UtilityCall, or is a notification. vLLM: utility_output.
	Utility *UtilityOutput
	// Finished are ids to forget, in any order. vLLM: finished_requests.
	Finished []string
	// WaveComplete is the wave that ended. vLLM: wave_complete.
	WaveComplete *int
	// StartWave is the wave that other engines must start. vLLM: start_wave.
	StartWave *int
	// WeightVersion is that of the step. vLLM: weight_version.
	WeightVersion string

	stats statsField
}

// Load is the part of the scheduler's statistics that routing reads.
type Load struct {
	Running, Waiting int
	KVUsage          float64 // in [0, 1].
	Step, Wave       int
}

// Output is what one step gives one request. vLLM: EngineCoreOutput. It is
// copied into streams and kept at 80 bytes.
type Output struct {
	// ID aliases the frame; do not write to it. vLLM: request_id.
	ID []byte
	// Tokens shares one array with the other rows of the message; its capacity
	// ends with it. vLLM: new_token_ids.
	Tokens []uint32
	// Err is a *DecodeError when this row alone could not be read. ID is set
	// where it could be.
	Err   error
	extra *rare
	// Finish is FinishNone until the last output of a request. vLLM:
	// finish_reason.
	Finish FinishReason
}

// Extra are the rare fields of an Output.
type Extra struct {
	StopReason            any       // nil, int64 (token id) or string. vLLM: stop_reason.
	Logprobs              *Logprobs // of the new tokens. vLLM: new_logprobs.
	PromptLogprobs        *Logprobs // vLLM: new_prompt_logprobs_tensors.
	Pooling               *Tensor   // vLLM: pooling_output.
	Events                []Event
	KVTransferParams      map[string]any
	ECTransferParams      map[string]any
	TraceHeaders          map[string]string
	PrefillStats          *PrefillStats
	RoutedExperts         *Tensor // numpy, shape [tokens, layers, top k].
	NumNaNs               int     // vLLM: num_nans_in_logits.
	MMCacheMissHashes     []string
	SamplingMask          *SamplingMask // vLLM: new_sampling_mask.
	SpecDecode            *SpecDecodeMetrics
	PromptTokenIDLogprobs *Tensor       // shape [rows, ids].
	Error                 *RequestError // since 0.33.0.
	// NumCachedTokens and NumExternalComputedTokens were sent before 0.20.0,
	// where PrefillStats took their place.
	NumCachedTokens, NumExternalComputedTokens int
}
