// SPDX-License-Identifier: Apache-2.0

package codec

// SchedulerStats are the scheduler's numbers of one step. Releases have grown
// and lost keys: those that one lacks are zero when read, and not written for
// it. vLLM: SchedulerStats.
type SchedulerStats struct {
	NumRunning          int            // vLLM: num_running_reqs.
	NumWaiting          int            // vLLM: num_waiting_reqs.
	NumSkippedWaiting   int            // vLLM: num_skipped_waiting_reqs.
	NumKVFetchByStage   map[string]int // vLLM: num_kv_fetch_reqs_by_stage.
	StepCounter         int
	CurrentWave         int
	KVCacheUsage        float64 // in [0, 1].
	Iteration           *IterationDetails
	PrefixCache         PrefixCacheStats
	ConnectorPrefix     *PrefixCacheStats // vLLM: connector_prefix_cache_stats.
	Evictions           []EvictionEvent   // vLLM: kv_cache_eviction_events.
	SpecDecoding        *SpecDecodingStats
	KVConnector         map[string]any // opaque. vLLM: kv_connector_stats.
	ECConnector         map[string]any // opaque. vLLM: ec_connector_stats.
	WaitingLoRAAdapters map[string]int
	RunningLoRAAdapters map[string]int
	CUDAGraph           *CUDAGraphStat // vLLM: cudagraph_stats.
	Perf                *PerfStats     // vLLM: perf_stats.
	NumCorrupted        int            // before 0.11.1. vLLM: num_corrupted_reqs.
	EncoderCacheUsage   float64        // in [0, 1], from 0.16.0 and before 0.20.0.
}

// IterationDetails tells of one step. vLLM: SchedulerIterationDetails.
type IterationDetails struct {
	Index                  int // vLLM: iteration_index.
	NumCtxRequests         int
	NumCtxTokens           int
	NumGenerationRequests  int
	NumGenerationTokens    int
	ElapsedMS              float64
	NumEncoderInputs       int
	NumEncoderOutputTokens int
	IsDummy                bool
}

// PrefixCacheStats counts queries of the prefix cache. vLLM: PrefixCacheStats.
type PrefixCacheStats struct {
	Reset                                              bool
	Requests, Queries, Hits                            int
	PreemptedRequests, PreemptedQueries, PreemptedHits int
	HitsBySource                                       map[string]int
}

// EvictionEvent tells of one evicted KV block. vLLM: KVCacheEvictionEvent.
type EvictionEvent struct {
	LifetimeSeconds  float64
	IdleSeconds      float64
	ReuseGapsSeconds []float64
}

// SpecDecodingStats counts draft tokens. vLLM: SpecDecodingStats.
type SpecDecodingStats struct {
	NumSpecTokens             int
	NumDrafts                 int
	NumDraftTokens            int
	NumAcceptedTokens         int
	NumAcceptedTokensPerPos   []int
	NumDraftTokensPerPosition []int // vLLM: num_draft_tokens_per_pos.
}

// CUDAGraphStat tells how a step was padded. vLLM: CUDAGraphStat.
type CUDAGraphStat struct {
	NumUnpaddedTokens, NumPaddedTokens, NumPaddings int
	RuntimeMode                                     string
}

// PerfStats are estimates of work a GPU did in a step. vLLM: PerfStats.
type PerfStats struct {
	NumFlopsPerGPU, NumReadBytesPerGPU, NumWriteBytesPerGPU int
	// Debug is passed through. vLLM: debug_stats.
	Debug map[string]any
}
