// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// defaults are vLLM's for the sampling parameters whose zero value here is unset.
var defaults = map[string]string{
	"n": "1", "repetition_penalty": "1.0", "temperature": "1.0", "top_p": "1.0", "max_tokens": "16",
	"detokenize": "true", "skip_special_tokens": "true", "spaces_between_special_tokens": "true",
}

// aliases are the names that differ in more than the underscores.
var aliases = map[string]string{
	"request_id": "ID", "prompt_token_ids": "Prompt", "sampling_params": "Sampling", "pooling_params": "Pooling",
	"lora_request": "LoRA", "prompt_is_token_ids": "PromptIsToken", "external_req_id": "ExternalID",
	"mm_position": "Position", "mm_hash": "Hash", "late_interaction_params": "LateInteraction", "late_chunking_params": "LateChunking", "new_token_ids": "Tokens",
	"new_logprobs": "Logprobs", "new_prompt_logprobs_tensors": "PromptLogprobs", "pooling_output": "Pooling",
	"finish_reason": "Finish", "num_nans_in_logits": "NumNaNs", "new_sampling_mask": "SamplingMask",
	"spec_decode_metrics": "SpecDecode", "logprob_token_ids": "TokenIDs", "sampled_token_ranks": "Ranks",
	"selected_token_ranks": "Ranks", "cu_num_generated_tokens": "CU", "cu_num_generated_tokens_tensor": "CUTensor",
	"engine_index": "Engine", "outputs": "Rows", "utility_output": "Utility", "finished_requests": "Finished",
	"lora_name": "Name", "lora_int_id": "ID", "lora_path": "Path", "base_model_name": "BaseModel",
	"load_inplace": "InPlace", "is_3d_lora_weight": "Is3D", "action_id": "ID", "action_type": "Type", "action_version": "Version",
	"num_running_reqs": "NumRunning", "num_waiting_reqs": "NumWaiting", "num_skipped_waiting_reqs": "NumSkippedWaiting",
	"num_kv_fetch_reqs_by_stage": "NumKVFetchByStage", "iteration_details": "Iteration", "iteration_index": "Index",
	"prefix_cache_stats": "PrefixCache", "connector_prefix_cache_stats": "ConnectorPrefix",
	"kv_cache_eviction_events": "Evictions", "spec_decoding_stats": "SpecDecoding", "kv_connector_stats": "KVConnector",
	"ec_connector_stats": "ECConnector", "cudagraph_stats": "CUDAGraph", "perf_stats": "Perf", "debug_stats": "Debug",
	"num_draft_tokens_per_pos": "NumDraftTokensPerPosition", "dp_stats_address": "StatsAddress",
	"vllm_version": "Version", "kv_events_config": "KVEvents", "supports_draft_weight_updates": "SupportsDraftWeightUpdate",
	"enable_kv_cache_events": "Enable", "frontend_stats_publish_address": "StatsAddress", "data": "Value",
}

func fieldOf(v reflect.Value, key string) reflect.Value {
	name := strings.ReplaceAll(key, "_", "")
	if f := v.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, name) }); f.IsValid() {
		return f
	}
	if f := v.FieldByName(aliases[key]); f.IsValid() {
		return f
	}
	return reflect.Value{}
}

// match compares the manifest's form of a value with ours.
func match(t *testing.T, path string, want any, got reflect.Value) {
	t.Helper()
	for got.IsValid() && (got.Kind() == reflect.Pointer || got.Kind() == reflect.Interface) && !got.IsNil() {
		if tensor, ok := reflect.TypeAssert[*codec.Tensor](got); ok {
			matchTensor(t, path, want, tensor)
			return
		}
		got = got.Elem()
	}
	switch want := want.(type) {
	case nil:
		if strings.HasSuffix(path, "max_tokens") && show(got) == "-1" {
			return // NoLimit
		}
		if got.IsValid() && !got.IsZero() {
			t.Errorf("%s: want nil, got %v", path, got)
		}
	case map[string]any:
		matchMap(t, path, want, got)
	case []any:
		matchList(t, path, want, got)
	default:
		if s := text(want); s != show(got) && (!isUnset(got) || defaults[path[strings.LastIndex(path, ".")+1:]] != s) {
			t.Errorf("%s: want %s, got %s", path, s, show(got))
		}
	}
}

func isUnset(v reflect.Value) bool { return !v.IsValid() || v.IsZero() }

func text(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	return fmt.Sprint(v)
}

// show writes numbers as the manifest does: floats have a point.
func show(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return "<invalid>"
	case v.Type() == reflect.TypeFor[codec.FinishReason]():
		return strconv.Itoa(int(v.Uint()) - 1)
	case v.CanFloat():
		s := strconv.FormatFloat(v.Float(), 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	case v.Type() == reflect.TypeFor[[]byte]():
		return string(v.Bytes())
	}
	return fmt.Sprint(v.Interface())
}

func matchMap(t *testing.T, path string, want map[string]any, got reflect.Value) {
	t.Helper()
	switch {
	case want["$set"] != nil:
		matchSet(t, path, want["$set"].([]any), got)
	case want["$ints"] != nil:
		matchInts(t, path, want["$ints"].(map[string]any), got)
	case want["$int"] != nil:
		if text(want["$int"]) != show(got) {
			t.Errorf("%s: want %v, got %s", path, want["$int"], show(got))
		}
	case want["$bin"] != nil:
		if b, _ := reflect.TypeAssert[[]byte](got); hex.EncodeToString(b) != want["$bin"] {
			t.Errorf("%s: want %v, got %v", path, want["$bin"], got)
		}
	case want["$slice"] != nil:
		s := got.Interface().(codec.Slice)
		for i, p := range []*int{s.Start, s.Stop, s.Step} {
			match(t, path, want["$slice"].([]any)[i], reflect.ValueOf(p))
		}
	case want["$map"] != nil:
		for _, pair := range want["$map"].([]any) {
			k := text(pair.([]any)[0])
			for _, have := range got.MapKeys() {
				if fmt.Sprint(have.Interface()) == k {
					match(t, path+"."+k, pair.([]any)[1], got.MapIndex(have))
				}
			}
		}
	case got.Kind() == reflect.Map:
		matchKeys(t, path, want, got)
	default:
		matchStruct(t, path, want, got)
	}
}

func matchKeys(t *testing.T, path string, want map[string]any, got reflect.Value) {
	t.Helper()
	for k, v := range want {
		if k != "$type" {
			match(t, path+"."+k, v, got.MapIndex(reflect.ValueOf(k)))
		}
	}
}

func matchList(t *testing.T, path string, want []any, got reflect.Value) {
	t.Helper()
	if got.Kind() != reflect.Slice || got.Len() != len(want) {
		t.Errorf("%s: want %d elements, got %v", path, len(want), got)
		return
	}
	for i := range want {
		match(t, path+"["+strconv.Itoa(i)+"]", want[i], got.Index(i))
	}
}

func matchSet(t *testing.T, path string, want []any, got reflect.Value) {
	t.Helper()
	var a, b []string
	for _, v := range want {
		a = append(a, text(v))
	}
	for i := range got.Len() {
		b = append(b, fmt.Sprint(got.Index(i).Interface()))
	}
	sort.Strings(a)
	sort.Strings(b)
	if strings.Join(a, " ") != strings.Join(b, " ") {
		t.Errorf("%s: want %v, got %v", path, a, b)
	}
}

func matchInts(t *testing.T, path string, want map[string]any, got reflect.Value) {
	t.Helper()
	list := make([]any, got.Len())
	for i := range list {
		list[i] = got.Index(i).Interface()
	}
	matchRawInts(t, path, want, list)
}

func matchTensor(t *testing.T, path string, want any, got *codec.Tensor) {
	t.Helper()
	w, _ := want.(map[string]any)
	body, _ := w["$tensor"].(map[string]any)
	numpy := body == nil
	if numpy {
		if body, _ = w["$ndarray"].(map[string]any); body == nil {
			t.Errorf("%s: want %v, got a tensor", path, want)
			return
		}
	}
	match(t, path+".shape", body["shape"], reflect.ValueOf(got.Shape))
	if numpy != got.NumPy || !numpy && got.DType != body["dtype"] {
		t.Errorf("%s: want dtype %v, got %s (numpy %t)", path, body["dtype"], got.DType, got.NumPy)
	}
	if b, ok := body["bytes"]; ok {
		if hex.EncodeToString(got.Data) != b {
			t.Errorf("%s: data differs", path)
		}
	} else if sum := sha256.Sum256(got.Data); hex.EncodeToString(sum[:]) != body["sha256"] {
		t.Errorf("%s: data differs", path)
	}
}
