// SPDX-License-Identifier: Apache-2.0

package codec

// rare appends the keys that sampling_usual.go does not have, in the order of
// vLLM's class.
func (e *encoder) rare(s *SamplingParams) (n int) {
	n += e.watermarking(s.Watermarking)
	n += e.keyStrings("stop", s.Stop)
	n += e.keyIntPtr("logprobs", s.Logprobs)
	n += e.keyIntPtr("prompt_logprobs", s.PromptLogprobs)
	n += e.promptLogprobTokenIDs(s.PromptLogprobTokenIDs)
	if s.PromptLogprobStart != nil && e.knows(fPromptLogprobStart) {
		n += e.keyIntPtr("prompt_logprob_start", s.PromptLogprobStart)
	}
	if s.LogprobTokenIDs != nil && e.knows(fLogprobTokenIDs) {
		n += e.keyTokens("logprob_token_ids", s.LogprobTokenIDs)
	}
	n += e.keyBool("flat_logprobs", s.FlatLogprobs && e.knows(fFlatLogprobs))
	n += e.keyTrue("detokenize", s.Detokenize)
	n += e.keyTrue("skip_special_tokens", s.SkipSpecialTokens)
	n += e.keyTrue("spaces_between_special_tokens", s.SpacesBetweenSpecialTokens)
	n += e.keyBool("include_stop_str_in_output", s.IncludeStopStrInOutput)
	if s.StreamInterval != nil && e.knows(fStreamInterval) {
		n += e.keyIntPtr("stream_interval", s.StreamInterval)
	}
	n += e.keyBool("skip_clone", s.SkipClone && e.knows(fSkipClone))
	n += e.keyInt("output_text_buffer_length", s.OutputTextBufferLength, 0)
	n += e.keyBool("_watermarking_skipped", s.WatermarkingSkipped && e.knows(fOwnWatermarkingSkipped))
	return n + e.samplingRest(s)
}

func (e *encoder) samplingRest(s *SamplingParams) (n int) {
	if s.StructuredOutputs != nil {
		n += e.structured(s.StructuredOutputs)
	}
	if s.LogitBias != nil {
		e.b = appendMap(appendString(e.b, "logit_bias"), len(s.LogitBias))
		for k, v := range s.LogitBias {
			e.b = appendFloat(appendInt(e.b, k), v)
		}
		n++
	}
	n += e.keyTokens("allowed_token_ids", s.AllowedTokenIDs)
	if s.ExtraArgs != nil {
		e.b = appendString(e.b, "extra_args")
		e.params("extra_args", s.ExtraArgs)
		n++
	}
	n += e.keyStrings("bad_words", s.BadWords)
	if s.BadWordsTokenIDs != nil {
		e.b = appendArray(appendString(e.b, "_bad_words_token_ids"), len(s.BadWordsTokenIDs))
		for _, ids := range s.BadWordsTokenIDs {
			if ids == nil {
				ids = []uint32{}
			}
			e.b = appendTokens(e.b, ids)
		}
		n++
	}
	return n + e.samplingLate(s)
}

// samplingLate has what came after 0.9.2 and stands at the end.
func (e *encoder) samplingLate(s *SamplingParams) (n int) {
	if s.SkipReadingPrefixCache != nil && e.knows(fSkipReadingPrefixCache) {
		n += e.keyBoolPtr("skip_reading_prefix_cache", s.SkipReadingPrefixCache)
	}
	if s.ThinkingTokenBudget != nil && e.knows(fThinkingTokenBudget) {
		n += e.keyIntPtr("thinking_token_budget", s.ThinkingTokenBudget)
	}
	if s.RepetitionDetection != nil && e.knows(fRepetitionDetection) {
		n += e.keyRecord("repetition_detection", s.RepetitionDetection)
	}
	if s.RoutedExpertsPromptStart != 0 && e.knows(fRoutedExpertsPromptStart) {
		n += e.keyInt("routed_experts_prompt_start", s.RoutedExpertsPromptStart, 0)
	}
	if s.TraceDecodeTokenIDs != nil && e.knows(fTraceDecodeTokenIDs) {
		n += e.keyTokens("trace_decode_token_ids", s.TraceDecodeTokenIDs)
	}
	return n
}
