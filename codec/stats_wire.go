// SPDX-License-Identifier: Apache-2.0

package codec

func (s *SchedulerStats) bindings() []binding {
	return []binding{
		{"num_running_reqs", &s.NumRunning},
		{"num_waiting_reqs", &s.NumWaiting},
		{"num_skipped_waiting_reqs", &s.NumSkippedWaiting},
		{"num_kv_fetch_reqs_by_stage", &s.NumKVFetchByStage},
		{"step_counter", &s.StepCounter},
		{"current_wave", &s.CurrentWave},
		{"kv_cache_usage", &s.KVCacheUsage},
		{"iteration_details", opt[IterationDetails, *IterationDetails]{&s.Iteration}},
		{"prefix_cache_stats", of[PrefixCacheStats, *PrefixCacheStats]{&s.PrefixCache}},
		{"connector_prefix_cache_stats", opt[PrefixCacheStats, *PrefixCacheStats]{&s.ConnectorPrefix}},
		{"kv_cache_eviction_events", list[EvictionEvent, *EvictionEvent]{&s.Evictions}},
		{"spec_decoding_stats", opt[SpecDecodingStats, *SpecDecodingStats]{&s.SpecDecoding}},
		{"kv_connector_stats", &s.KVConnector},
		{"ec_connector_stats", &s.ECConnector},
		{"waiting_lora_adapters", &s.WaitingLoRAAdapters},
		{"running_lora_adapters", &s.RunningLoRAAdapters},
		{"cudagraph_stats", opt[CUDAGraphStat, *CUDAGraphStat]{&s.CUDAGraph}},
		{"perf_stats", opt[PerfStats, *PerfStats]{&s.Perf}},
		{"num_corrupted_reqs", &s.NumCorrupted},
		{"encoder_cache_usage", &s.EncoderCacheUsage},
	}
}

func (d *IterationDetails) bindings() []binding {
	return []binding{
		{"iteration_index", &d.Index},
		{"num_ctx_requests", &d.NumCtxRequests},
		{"num_ctx_tokens", &d.NumCtxTokens},
		{"num_generation_requests", &d.NumGenerationRequests},
		{"num_generation_tokens", &d.NumGenerationTokens},
		{"elapsed_ms", &d.ElapsedMS},
		{"num_encoder_inputs", &d.NumEncoderInputs},
		{"num_encoder_output_tokens", &d.NumEncoderOutputTokens},
		{"is_dummy", &d.IsDummy},
	}
}

func (p *PrefixCacheStats) bindings() []binding {
	return []binding{
		{"reset", &p.Reset},
		{"requests", &p.Requests},
		{"queries", &p.Queries},
		{"hits", &p.Hits},
		{"preempted_requests", &p.PreemptedRequests},
		{"preempted_queries", &p.PreemptedQueries},
		{"preempted_hits", &p.PreemptedHits},
		{"hits_by_source", &p.HitsBySource},
	}
}

func (e *EvictionEvent) bindings() []binding {
	return []binding{
		{"lifetime_seconds", &e.LifetimeSeconds},
		{"idle_seconds", &e.IdleSeconds},
		{"reuse_gaps_seconds", &e.ReuseGapsSeconds},
	}
}

func (s *SpecDecodingStats) bindings() []binding {
	return []binding{
		{"num_spec_tokens", &s.NumSpecTokens},
		{"num_drafts", &s.NumDrafts},
		{"num_draft_tokens", &s.NumDraftTokens},
		{"num_accepted_tokens", &s.NumAcceptedTokens},
		{"num_accepted_tokens_per_pos", &s.NumAcceptedTokensPerPos},
		{"num_draft_tokens_per_pos", &s.NumDraftTokensPerPosition},
	}
}

func (s *CUDAGraphStat) bindings() []binding {
	return []binding{
		{"num_unpadded_tokens", &s.NumUnpaddedTokens},
		{"num_padded_tokens", &s.NumPaddedTokens},
		{"num_paddings", &s.NumPaddings},
		{"runtime_mode", &s.RuntimeMode},
	}
}

func (s *PerfStats) bindings() []binding {
	return []binding{
		{"num_flops_per_gpu", &s.NumFlopsPerGPU},
		{"num_read_bytes_per_gpu", &s.NumReadBytesPerGPU},
		{"num_write_bytes_per_gpu", &s.NumWriteBytesPerGPU},
		{"debug_stats", &s.Debug},
	}
}
