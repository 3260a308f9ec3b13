// SPDX-License-Identifier: Apache-2.0

package codec

// PoolingParams says what a pooling request wants. vLLM: PoolingParams.
// Its output_kind is always FinalOnly: an engine accepts nothing else.
type PoolingParams struct {
	UseActivation          *bool
	Dimensions             *int
	StepTagID              *int
	ReturnedTokenIDs       []uint32
	Task                   string // one of the Task constants, "" is nil.
	RequiresTokenIDs       bool
	SkipReadingPrefixCache *bool
	LateInteraction        *LateInteraction // vLLM: late_interaction_params.
	ExtraKwargs            map[string]any
	LateChunking           *LateChunking // since 0.33.0. vLLM: late_chunking_params.
}

// The tasks that an engine accepts. vLLM: PoolingTask.
const (
	TaskEmbed                 = "embed"
	TaskClassify              = "classify"
	TaskTokenEmbed            = "token_embed"
	TaskTokenClassify         = "token_classify"
	TaskPlugin                = "plugin"
	TaskEmbedAndTokenClassify = "embed&token_classify"
)

// LateInteraction ties queries and documents that are scored by one engine.
// vLLM: LateInteractionParams.
type LateInteraction struct {
	Mode      string // "cache_query" or "score_doc".
	QueryKey  string
	QueryUses *int
}

// LateChunking is the chunk size in tokens. vLLM: LateChunkingParams.
type LateChunking struct {
	ChunkSize int
}
