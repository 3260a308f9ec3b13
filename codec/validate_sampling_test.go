// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/json"
	"math"

	"github.com/corepipe/corepipe/codec"
)

type params = codec.SamplingParams

func structured(o codec.StructuredOutputs) func(*codec.Request) {
	return sampling(func(s *params) { s.StructuredOutputs = &o })
}

func repetition(most, least, count int) func(*codec.Request) {
	return sampling(func(s *params) {
		s.RepetitionDetection = &codec.RepetitionDetection{MaxPatternSize: most, MinPatternSize: least, MinCount: count}
	})
}

var samplingRefusals = []refusal{
	{"temperature below 0", "temperature", sampling(func(s *params) { s.Temperature = new(-0.1) })},
	{"temperature over 2", "temperature", sampling(func(s *params) { s.Temperature = new(2.1) })},
	{"temperature that is no number", "temperature", sampling(func(s *params) { s.Temperature = new(math.NaN()) })},
	{"temperature that is infinite", "temperature", sampling(func(s *params) { s.Temperature = new(math.Inf(1)) })},
	{"top_p 0", "top_p", sampling(func(s *params) { s.TopP = new(0.0) })},
	{"top_p over 1", "top_p", sampling(func(s *params) { s.TopP = new(1.1) })},
	{"top_p that is no number", "top_p", sampling(func(s *params) { s.TopP = new(math.NaN()) })},
	{"min_p 2", "min_p", sampling(func(s *params) { s.MinP = 2 })},
	{"min_p that is no number", "min_p", sampling(func(s *params) { s.MinP = math.NaN() })},
	{"top_k -2", "top_k", sampling(func(s *params) { s.TopK = -2 })},
	{"presence penalty 3", "presence_penalty", sampling(func(s *params) { s.PresencePenalty = 3 })},
	{"frequency penalty 3", "frequency_penalty", sampling(func(s *params) { s.FrequencyPenalty = 3 })},
	{"frequency penalty that is no number", "frequency_penalty", sampling(func(s *params) { s.FrequencyPenalty = math.NaN() })},
	{"repetition penalty 0", "repetition_penalty", sampling(func(s *params) { s.RepetitionPenalty = new(0.0) })},
	{"infinite repetition penalty", "repetition_penalty", sampling(func(s *params) { s.RepetitionPenalty = new(math.Inf(1)) })},
	{"presence penalty that is no number", "presence_penalty", sampling(func(s *params) { s.PresencePenalty = math.NaN() })},
	{"repetition penalty that is no number", "repetition_penalty", sampling(func(s *params) { s.RepetitionPenalty = new(math.NaN()) })},
	{"max_tokens below 0", "max_tokens", sampling(func(s *params) { s.MaxTokens = -2 })},
	{"no limit on tokens", "max_tokens", sampling(func(s *params) { s.MaxTokens = codec.NoLimit })},
	{"min_tokens below 0", "min_tokens", sampling(func(s *params) { s.MinTokens = -1 })},
	{"min_tokens over max_tokens", "min_tokens", sampling(func(s *params) { s.MinTokens = 9 })},
	{"min_tokens over the default of 16", "min_tokens", sampling(func(s *params) { s.MaxTokens, s.MinTokens = 0, 17 })},
	{"logprobs -2", "logprobs", sampling(func(s *params) { s.Logprobs = new(-2) })},
	{"prompt logprobs -2", "prompt_logprobs", sampling(func(s *params) { s.PromptLogprobs = new(-2) })},
	{"129 logprob tokens", "logprob_token_ids", sampling(func(s *params) { s.LogprobTokenIDs = make([]uint32, 129) })},
	{"an empty stop string", "stop", sampling(func(s *params) { s.Stop = []string{"a", ""} })},
	{"a stop string that is not UTF-8", "stop", sampling(func(s *params) { s.Stop = []string{broken} })},
	{"stop strings without detokenizing", "stop", sampling(func(s *params) { s.Stop, s.Detokenize = []string{"a"}, new(false) })},
	{"an empty bad word", "bad_words", sampling(func(s *params) { s.BadWords = []string{""} })},
	{"a bad word that is not UTF-8", "bad_words", sampling(func(s *params) { s.BadWords = []string{broken} })},
	{"thinking budget -5", "thinking_token_budget", sampling(func(s *params) { s.ThinkingTokenBudget = new(-5) })},
	{"n below 1", "n", sampling(func(s *params) { s.N = -1 })},
	{"n over 16384", "n", sampling(func(s *params) { s.N = 16385 })},
	{"two greedy answers", "n", sampling(func(s *params) { s.N, s.Temperature = 2, new(0.0) })},
	{"stream interval 0", "stream_interval", sampling(func(s *params) { s.StreamInterval = new(0) })},
	{"output kind 9", "output_kind", sampling(func(s *params) { s.OutputKind = 9 })},
	{"repetition detection with a count of 1", "repetition_detection", repetition(20, 2, 1)},
	{"repetition detection upside down", "repetition_detection", repetition(1, 2, 3)},
	{"structured outputs without a constraint", "structured_outputs", structured(codec.StructuredOutputs{})},
	{"structured outputs with two constraints", "structured_outputs", structured(codec.StructuredOutputs{Regex: "a", Grammar: "b"})},
	{"structured outputs with a number for JSON", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: 7})},
	{"structured outputs with a schema that is nil", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: map[string]any(nil)})},
	{"a schema with a key that is not UTF-8", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: map[string]any{"a": map[string]any{broken: 1}}})},
	{"a schema with text that is not UTF-8", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: map[string]any{"enum": []any{"a", []any{broken}}}})},
	{"a schema as text that is not UTF-8", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: broken})},
	{"a schema that has no end", "structured_outputs.json", structured(codec.StructuredOutputs{JSON: endless()})},
	{"a regex that is not UTF-8", "structured_outputs", structured(codec.StructuredOutputs{Regex: broken})},
	{"a logit bias that is no number", "logit_bias", sampling(func(s *params) { s.LogitBias = map[int]float64{1: math.NaN()} })},
	{"experts from beyond the prompt", "routed_experts_prompt_start", sampling(func(s *params) { s.RoutedExpertsPromptStart = 4 })},
	{"extra arguments that are not UTF-8", "extra_args", sampling(func(s *params) { s.ExtraArgs = map[string]any{"a": []any{broken}} })},
	{"extra arguments with a key that is not UTF-8", "extra_args", sampling(func(s *params) { s.ExtraArgs = map[string]any{"a": map[string]any{broken: 1}} })},
	{"extra arguments with a list of strings that are not UTF-8", "extra_args", sampling(func(s *params) { s.ExtraArgs = map[string]any{"a": []string{"a", broken}} })},
	{"extra arguments with a number as text", "extra_args", sampling(func(s *params) { s.ExtraArgs = map[string]any{"a": json.Number("5")} })},
	{"extra arguments of a struct without exported fields", "extra_args", sampling(func(s *params) {
		s.ExtraArgs = map[string]any{"a": struct{ hidden int }{1}}
	})},
}
