// SPDX-License-Identifier: Apache-2.0

package codec

func (r *Ready) bindings() []binding {
	return []binding{
		{"max_model_len", &r.MaxModelLen},
		{"num_gpu_blocks", &r.NumGPUBlocks},
		{"block_size", &r.BlockSize},
		{"dp_stats_address", (*nilable)(&r.StatsAddress)},
		{"dtype", &r.DType},
		{"vllm_version", &r.Version},
		{"world_size", &r.WorldSize},
		{"data_parallel_size", &r.DataParallelSize},
		{"tensor_parallel_size", &r.TensorParallelSize},
		{"pipeline_parallel_size", &r.PipelineParallelSize},
		{"decode_context_parallel_size", &r.DecodeContextParallelSize},
		{"data_parallel_rank", &r.DataParallelRank},
		{"max_num_seqs", &r.MaxNumSeqs},
		{"max_num_batched_tokens", &r.MaxNumBatchedTokens},
		{"instance_id", &r.InstanceID},
		{"supports_lora", &r.SupportsLoRA},
		{"max_loras", &r.MaxLoRAs},
		{"mamba_block_size", &r.MambaBlockSize},
		{"kv_cache_size_tokens", &r.KVCacheSizeTokens},
		{"kv_cache_max_concurrency", &r.KVCacheMaxConcurrency},
		{"kv_events_config", opt[KVEvents, *KVEvents]{&r.KVEvents}},
		{"weight_transfer_backend", (*nilable)(&r.WeightTransferBackend)},
		{"enable_sleep_mode", &r.EnableSleepMode},
		{"supports_draft_weight_updates", &r.SupportsDraftWeightUpdate},
		{"effective_attention_block_size", &r.EffectiveAttentionBlockSize},
		{"coord_store_port", &r.CoordStorePort},
		{"coordinator_input_address", (*nilable)(&r.CoordinatorInputAddress)},
		{"coordinator_output_address", (*nilable)(&r.CoordinatorOutputAddress)},
	}
}

func (k *KVEvents) bindings() []binding {
	return []binding{
		{"enable_kv_cache_events", &k.Enable},
		{"publisher", &k.Publisher},
		{"endpoint", &k.Endpoint},
		{"replay_endpoint", (*nilable)(&k.ReplayEndpoint)},
		{"buffer_steps", &k.BufferSteps},
		{"hwm", &k.HWM},
		{"max_queue_size", &k.MaxQueueSize},
		{"topic", &k.Topic},
	}
}
