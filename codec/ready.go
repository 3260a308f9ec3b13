// SPDX-License-Identifier: Apache-2.0

package codec

// Ready is an engine's first message on the input socket. vLLM:
// EngineCoreReadyResponse. The keys grew with the releases, so anything but
// MaxModelLen may be missing and is then zero.
type Ready struct {
	MaxModelLen               int
	NumGPUBlocks              int
	BlockSize                 int
	StatsAddress              string // vLLM: dp_stats_address.
	DType                     string // "bfloat16".
	Version                   string // since 0.24.0. vLLM: vllm_version.
	WorldSize                 int
	DataParallelSize          int
	TensorParallelSize        int
	PipelineParallelSize      int
	DecodeContextParallelSize int
	DataParallelRank          int
	MaxNumSeqs                int
	MaxNumBatchedTokens       int
	InstanceID                string
	SupportsLoRA              bool
	MaxLoRAs                  int
	MambaBlockSize            *int
	KVCacheSizeTokens         *int
	KVCacheMaxConcurrency     *float64
	KVEvents                  *KVEvents // vLLM: kv_events_config.
	WeightTransferBackend     string
	EnableSleepMode           bool
	SupportsDraftWeightUpdate bool // vLLM: supports_draft_weight_updates.
	// EffectiveAttentionBlockSize is for a client to adopt when all engines say
	// the same.
	EffectiveAttentionBlockSize *int
	// The last three are since 0.33.0.
	CoordStorePort                                    int
	CoordinatorInputAddress, CoordinatorOutputAddress string
}

// KVEvents says where an engine publishes changes of its KV cache. vLLM:
// KVEventsConfig. The ports are already offset by the rank.
type KVEvents struct {
	Enable         bool // vLLM: enable_kv_cache_events.
	Publisher      string
	Endpoint       string
	ReplayEndpoint string
	BufferSteps    int
	HWM            int
	MaxQueueSize   int
	Topic          string
}
