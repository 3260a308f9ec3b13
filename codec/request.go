// SPDX-License-Identifier: Apache-2.0

package codec

// Request is one generation or pooling request. vLLM: EngineCoreRequest.
//
// An empty optional string is nil on the wire. A nil slice or map is nil, an
// empty one that is not nil is an empty array or map. Fields that a release
// lacks are refused by Layout.AppendRequest when they are set.
type Request struct {
	// ID is unique in an engine among the unfinished. vLLM: request_id.
	ID string
	// Prompt is nil only with PromptEmbeds. vLLM: prompt_token_ids.
	Prompt []uint32
	// MMFeatures are the multi-modal inputs in the order of their positions.
	// vLLM: mm_features.
	MMFeatures []MMFeature
	// Sampling or Pooling is set, never both. vLLM: sampling_params.
	Sampling *SamplingParams
	// Pooling asks for an embedding or a class. vLLM: pooling_params.
	Pooling *PoolingParams
	// ArrivalTime is wall clock time in seconds. vLLM: arrival_time.
	ArrivalTime float64
	// LoRA is the adapter to use. vLLM: lora_request.
	LoRA *LoRARequest
	// CacheSalt separates prefix caches. vLLM: cache_salt.
	CacheSalt string
	// DataParallelRank pins the request to an engine; the client reads it, the
	// engine does not. vLLM: data_parallel_rank.
	DataParallelRank *int
	// PromptEmbeds has shape [prompt length, hidden size]. vLLM: prompt_embeds.
	PromptEmbeds *Tensor
	// PromptIsToken says of each prompt position whether the token counts or
	// the embedding. vLLM: prompt_is_token_ids.
	PromptIsToken []bool
	// ClientIndex chooses the engine's output socket; one out of range kills
	// the engine's output thread for everybody. vLLM: client_index.
	ClientIndex int
	// CurrentWave is the data-parallel wave the client believed in. vLLM:
	// current_wave.
	CurrentWave int
	// Priority orders the waiting queue, the lowest first. vLLM: priority.
	Priority int
	// TraceHeaders come back in the outputs. vLLM: trace_headers.
	TraceHeaders map[string]string
	// Resumable marks a piece of a streaming-input session. vLLM: resumable.
	Resumable bool
	// ExternalID is the id a user sees. vLLM: external_req_id.
	ExternalID string
	// ReasoningEnded says that the prompt already closed its reasoning part.
	// vLLM: reasoning_ended.
	ReasoningEnded *bool
	// ReasoningParserKwargs is passed through. vLLM: reasoning_parser_kwargs.
	ReasoningParserKwargs map[string]any
	// AbortImmediately adds and aborts in one, which frees remote KV blocks.
	// vLLM: abort_immediately.
	AbortImmediately bool
	// SessionID names a session for cache decisions. vLLM: session_id.
	SessionID string
	// KVHints carries wishes to a KV cache connector. vLLM: kv_hints.
	KVHints *KVHints
}

// KVHints is a message to the engine's KV cache. vLLM: KVHints.
type KVHints struct {
	ProtocolVersion string
	MessageID       string
	Actions         []KVAction
}

// KVAction is one wish of KVHints.
type KVAction struct {
	ID      string         // vLLM: action_id.
	Type    string         // vLLM: action_type.
	Version string         // vLLM: action_version.
	Payload map[string]any // never nil on the wire.
}

// PromptLen is the length of the prompt in tokens, given as tokens or embeddings.
func (r *Request) PromptLen() int {
	if r.Prompt == nil && r.PromptEmbeds != nil && len(r.PromptEmbeds.Shape) > 0 {
		return r.PromptEmbeds.Shape[0]
	}
	return len(r.Prompt)
}

// LoRARequest names an adapter. vLLM: LoRARequest. On the wire it takes four
// elements unless one of the bools is set: their position differs by release.
type LoRARequest struct {
	Name      string // vLLM: lora_name.
	ID        int    // at least 1. vLLM: lora_int_id.
	Path      string // never empty. vLLM: lora_path.
	BaseModel string // vLLM: base_model_name.
	InPlace   bool   // vLLM: load_inplace.
	Is3D      bool   // vLLM: is_3d_lora_weight.
}
