// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// valid is a request that nothing is wrong with.
func valid() *codec.Request {
	return &codec.Request{
		ID: "r1", Prompt: []uint32{1, 2, 3}, ArrivalTime: 1, Sampling: &codec.SamplingParams{MaxTokens: 8},
	}
}

// refusal is a change to a valid request that an engine would not survive, and
// the field that must be named.
type refusal struct {
	name, field string
	change      func(r *codec.Request)
}

func sampling(change func(s *codec.SamplingParams)) func(*codec.Request) {
	return func(r *codec.Request) { change(r.Sampling) }
}

func pooling(p codec.PoolingParams) func(*codec.Request) {
	return func(r *codec.Request) { r.Sampling, r.Pooling = nil, &p }
}

const broken = "a\xffb"

var identityRefusals = []refusal{
	{"an empty id", "request_id", func(r *codec.Request) { r.ID = "" }},
	{"an id that is not UTF-8", "request_id", func(r *codec.Request) { r.ID = broken }},
	{"an id of a mebibyte", "request_id", func(r *codec.Request) { r.ID = strings.Repeat("x", 1<<20) }},
	{"no prompt at all", "prompt_token_ids", func(r *codec.Request) { r.Prompt = nil }},
	{"an empty prompt", "prompt_token_ids", func(r *codec.Request) { r.Prompt = []uint32{} }},
	{"a token beyond int32", "prompt_token_ids", func(r *codec.Request) { r.Prompt[1] = 1 << 31 }},
	{"no parameters", "sampling_params", func(r *codec.Request) { r.Sampling = nil }},
	{"both kinds of parameters", "sampling_params", func(r *codec.Request) { r.Pooling = &codec.PoolingParams{} }},
	{"an arrival time that is no number", "arrival_time", func(r *codec.Request) { r.ArrivalTime = math.NaN() }},
	{"an infinite arrival time", "arrival_time", func(r *codec.Request) { r.ArrivalTime = math.Inf(-1) }},
	{"a negative rank", "data_parallel_rank", func(r *codec.Request) { r.DataParallelRank = new(-1) }},
	{"a negative client index", "client_index", func(r *codec.Request) { r.ClientIndex = -1 }},
	{"a negative wave", "current_wave", func(r *codec.Request) { r.CurrentWave = -1 }},
	{"a salt that is not UTF-8", "cache_salt", func(r *codec.Request) { r.CacheSalt = broken }},
	{"an external id that is not UTF-8", "external_req_id", func(r *codec.Request) { r.ExternalID = broken }},
	{"a session that is not UTF-8", "session_id", func(r *codec.Request) { r.SessionID = broken }},
	{"a trace header that is not UTF-8", "trace_headers", func(r *codec.Request) { r.TraceHeaders = map[string]string{"a": broken} }},
	{"hints that are not UTF-8", "kv_hints", func(r *codec.Request) { r.KVHints = &codec.KVHints{MessageID: broken} }},
	{"hints with a function", "kv_hints", func(r *codec.Request) {
		r.KVHints = &codec.KVHints{Actions: []codec.KVAction{{Payload: map[string]any{"f": func() {}}}}}
	}},
	{"hints with a key deep inside that is not UTF-8", "kv_hints", func(r *codec.Request) {
		r.KVHints = &codec.KVHints{Actions: []codec.KVAction{{}, {Payload: map[string]any{"a": []any{map[string]any{broken: nil}}}}}}
	}},
	{"an action that is not UTF-8", "kv_hints", func(r *codec.Request) {
		r.KVHints = &codec.KVHints{Actions: []codec.KVAction{{}, {Version: broken}}}
	}},
	{"a trace header's key that is not UTF-8", "trace_headers", func(r *codec.Request) { r.TraceHeaders = map[string]string{broken: "a"} }},
	{"reasoning with a key that is not UTF-8", "reasoning_parser_kwargs", func(r *codec.Request) { r.ReasoningParserKwargs = map[string]any{broken: 1} }},
	{"a channel for the reasoning parser", "reasoning_parser_kwargs", func(r *codec.Request) {
		r.ReasoningParserKwargs = map[string]any{"c": make(chan int)}
	}},
	{"adapter 0", "lora_request.lora_int_id", func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: "a", Path: "/p"} }},
	{"an adapter without a path", "lora_request.lora_path", func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: "a", ID: 1} }},
	{"an adapter that is not UTF-8", "lora_request", func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: broken, ID: 1, Path: "/p"} }},
}

var tensorRefusals = []refusal{
	{"embeddings of another length than the prompt", "prompt_embeds", func(r *codec.Request) {
		r.PromptEmbeds = codec.Float32Tensor([]int{2, 1}, []float32{1, 2})
	}},
	{"embeddings of one dimension", "prompt_embeds", func(r *codec.Request) {
		r.PromptEmbeds = codec.Float32Tensor([]int{3}, []float32{1, 2, 3})
	}},
	{"embeddings of an unknown dtype", "prompt_embeds", func(r *codec.Request) {
		r.PromptEmbeds = &codec.Tensor{DType: "float33", Shape: []int{3, 1}, Data: make([]byte, 12)}
	}},
	{"embeddings whose data does not fill the shape", "prompt_embeds", func(r *codec.Request) {
		r.PromptEmbeds = &codec.Tensor{DType: "float32", Shape: []int{3, 1}, Data: make([]byte, 11)}
	}},
	{"embeddings whose shape overflows", "prompt_embeds", func(r *codec.Request) {
		r.PromptEmbeds = &codec.Tensor{DType: "float32", Shape: []int{math.MaxInt, math.MaxInt}, Data: make([]byte, 4)}
	}},
	{"a mask of another length than the prompt", "prompt_is_token_ids", func(r *codec.Request) { r.PromptIsToken = []bool{true} }},
	{"a mask that asks for embeddings that are not there", "prompt_is_token_ids", func(r *codec.Request) {
		r.PromptIsToken = []bool{true, true, false}
	}},
	{"a feature tensor whose data does not fill the shape", "mm_features.data", func(r *codec.Request) {
		r.MMFeatures = []codec.MMFeature{{Data: []codec.MMItem{{
			Key: "k", Value: &codec.Tensor{DType: "uint8", Shape: []int{2}}, Field: codec.MMField{Kind: "batched"},
		}}}}
	}},
	{"a feature with an unknown field kind", "mm_features.data", func(r *codec.Request) {
		r.MMFeatures = []codec.MMFeature{{Data: []codec.MMItem{{Key: "k"}}}}
	}},
	{"a feature of a kind that cannot travel", "mm_features.data", func(r *codec.Request) {
		r.MMFeatures = []codec.MMFeature{{Data: []codec.MMItem{{Key: "k", Value: "text", Field: codec.MMField{Kind: "batched"}}}}}
	}},
	{"prompt logprob ids that are no numpy integers", "prompt_logprob_token_ids", sampling(func(s *codec.SamplingParams) {
		s.PromptLogprobTokenIDs = codec.Float32Tensor([]int{1, 1}, []float32{1})
	})},
}

var poolingRefusals = []refusal{
	{"an unknown task", "pooling_params.task", pooling(codec.PoolingParams{Task: "rank"})},
	{"the removed task score", "pooling_params.task", pooling(codec.PoolingParams{Task: "score"})},
	{"the removed task encode", "pooling_params.task", pooling(codec.PoolingParams{Task: "encode"})},
	{"0 dimensions", "pooling_params.dimensions", pooling(codec.PoolingParams{Dimensions: new(0)})},
	{"chunks of 0", "pooling_params.late_chunking_params", pooling(codec.PoolingParams{LateChunking: &codec.LateChunking{}})},
	{"a query key that is not UTF-8", "pooling_params", pooling(codec.PoolingParams{LateInteraction: &codec.LateInteraction{QueryKey: broken}})},
	{"kwargs nested without end", "pooling_params.extra_kwargs", pooling(codec.PoolingParams{ExtraKwargs: endless()})},
}

func endless() map[string]any {
	m := map[string]any{}
	m["again"] = m
	return m
}

func TestValidateRefusesWhatKillsAnEngine(t *testing.T) {
	for _, all := range [][]refusal{identityRefusals, tensorRefusals, poolingRefusals, samplingRefusals} {
		for _, c := range all {
			t.Run(c.name, func(t *testing.T) {
				r := valid()
				c.change(r)
				err := r.Validate()
				var typed *codec.FieldError
				if !errors.As(err, &typed) {
					t.Fatalf("want a FieldError, got %v", err)
				}
				if typed.Field != c.field {
					t.Errorf("want field %s, got %s", c.field, typed.Field)
				}
				if len(err.Error()) > 300 {
					t.Errorf("the error takes %d bytes", len(err.Error()))
				}
			})
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	for name, change := range map[string]func(*codec.Request){
		"a plain request":              func(*codec.Request) {},
		"sampling parameters unset":    func(r *codec.Request) { r.Sampling = &codec.SamplingParams{} },
		"two answers":                  sampling(func(s *codec.SamplingParams) { s.N = 2 }),
		"seed -1":                      sampling(func(s *codec.SamplingParams) { s.Seed = new(int64(-1)) }),
		"top_k -1":                     sampling(func(s *codec.SamplingParams) { s.TopK = -1 }),
		"all logprobs":                 sampling(func(s *codec.SamplingParams) { s.Logprobs = new(-1) }),
		"min_tokens of the default":    sampling(func(s *codec.SamplingParams) { s.MaxTokens, s.MinTokens = 0, 16 }),
		"an empty stop list":           sampling(func(s *codec.SamplingParams) { s.Stop, s.Detokenize = []string{}, new(false) }),
		"bytes in extra arguments":     sampling(func(s *codec.SamplingParams) { s.ExtraArgs = map[string]any{"b": []byte{0xff}} }),
		"repetition detection off":     sampling(func(s *codec.SamplingParams) { s.RepetitionDetection = &codec.RepetitionDetection{} }),
		"a pooling request":            pooling(codec.PoolingParams{Task: codec.TaskEmbed}),
		"a pooling request of no task": pooling(codec.PoolingParams{}),
		"an adapter":                   func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: "a", ID: 1, Path: "/p"} },
		"embeddings alone": func(r *codec.Request) {
			r.Prompt, r.PromptEmbeds = nil, codec.Float32Tensor([]int{2, 1}, []float32{1, 2})
		},
	} {
		r := valid()
		change(r)
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFieldErrorNamesRequestFieldAndRule(t *testing.T) {
	r := valid()
	r.Sampling.Temperature = new(3.0)
	if got, want := r.Validate().Error(), "codec: request r1: temperature: must be in [0, 2], is 3"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
