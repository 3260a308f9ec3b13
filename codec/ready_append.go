// SPDX-License-Identifier: Apache-2.0

package codec

import "slices"

// readyKeys are the keys of the ready message by the release that brought them. A
// key that came stayed.
var readyKeys = []struct {
	since [3]int
	keys  []string
}{
	{[3]int{0, 20, 0}, []string{"max_model_len", "num_gpu_blocks", "dp_stats_address"}},
	{[3]int{0, 22, 0}, []string{"dtype"}},
	{[3]int{0, 23, 0}, []string{"block_size", "vllm_version"}},
	{[3]int{0, 24, 0}, []string{"world_size", "data_parallel_size", "kv_cache_size_tokens", "kv_cache_max_concurrency"}},
	{[3]int{0, 27, 0}, []string{
		"tensor_parallel_size", "pipeline_parallel_size", "decode_context_parallel_size", "data_parallel_rank",
		"max_num_seqs", "max_num_batched_tokens", "instance_id", "kv_events_config",
	}},
	{[3]int{0, 28, 0}, []string{"weight_transfer_backend", "enable_sleep_mode", "supports_draft_weight_updates"}},
	{[3]int{0, 29, 0}, []string{"supports_lora", "max_loras", "mamba_block_size"}},
	{[3]int{0, 31, 0}, []string{"effective_attention_block_size"}},
	{[3]int{0, 33, 0}, []string{"coord_store_port", "coordinator_input_address", "coordinator_output_address"}},
}

// AppendReady appends an engine's ready message with the keys that its release
// has, and nothing for one before 0.20.0, whose message is empty. The release is
// r.Version if it is one of this layout, which says it more closely, and
// otherwise Since. The error is a *FieldError.
func (l *Layout) AppendReady(dst []byte, r *Ready) ([]byte, error) {
	release := l.version
	if of, err := LayoutOf(r.Version); err == nil && of == l {
		release, _ = parseRelease(r.Version)
	}
	if l.EmptyReady() {
		return dst, nil
	}
	all := r.bindings()
	known := make([]binding, 0, len(all))
	for _, b := range all {
		if !older(release, readySince(b.key)) {
			known = append(known, b)
		}
	}
	b, err := appendBindings(dst, known)
	if err != nil {
		return dst, inMessage("ready response", "", err)
	}
	return b, nil
}

func readySince(key string) [3]int {
	for _, r := range readyKeys {
		if slices.Contains(r.keys, key) {
			return r.since
		}
	}
	return layouts[len(layouts)-1].version
}
