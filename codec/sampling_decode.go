// SPDX-License-Identifier: Apache-2.0

package codec

// sampling reads the map of sampling parameters, nil for nil. Unlike other
// records it is strict, as an engine is: nil only where vLLM's type has it.
func (c *cursor) sampling() *SamplingParams {
	if c.null() {
		return nil
	}
	s := &SamplingParams{}
	all := s.bindings()
	next := 0
	for range c.mapping() {
		key := c.key()
		i := find(all, key, next)
		if i < 0 {
			c.skip()
			continue
		}
		next = i + 1
		c.field = all[i].key
		c.samplingValue(s, all[i])
		if !c.ok() {
			return nil
		}
	}
	return s
}

func (c *cursor) samplingValue(s *SamplingParams, f binding) {
	switch f.key {
	case "max_tokens":
		if c.null() {
			s.MaxTokens = NoLimit
			return
		}
	case "stop":
		if c.isText() {
			s.Stop = []string{c.string()}
			return
		}
	case "_all_stop_token_ids":
		if c.peek() == mNil {
			c.fail("array expected")
		}
	}
	switch f.ptr.(type) {
	case *int, *bool, *float64:
		if c.peek() == mNil {
			c.fail("nil is not allowed")
		}
	}
	c.bound(f.ptr)
}

func (c *cursor) isText() bool {
	lead := c.peek()
	return lead&0xe0 == 0xa0 || lead >= mStr8 && lead <= mStr32
}

func (s *SamplingParams) bindings() []binding {
	return []binding{
		{"n", &s.N},
		{"presence_penalty", &s.PresencePenalty},
		{"frequency_penalty", &s.FrequencyPenalty},
		{"repetition_penalty", present[float64]{&s.RepetitionPenalty}},
		{"temperature", present[float64]{&s.Temperature}},
		{"watermarking", &s.Watermarking},
		{"top_p", present[float64]{&s.TopP}},
		{"top_k", &s.TopK},
		{"min_p", &s.MinP},
		{"seed", &s.Seed},
		{"stop", &s.Stop},
		{"stop_token_ids", &s.StopTokenIDs},
		{"ignore_eos", &s.IgnoreEOS},
		{"max_tokens", &s.MaxTokens},
		{"min_tokens", &s.MinTokens},
		{"logprobs", &s.Logprobs},
		{"prompt_logprobs", &s.PromptLogprobs},
		{"prompt_logprob_token_ids", &s.PromptLogprobTokenIDs},
		{"prompt_logprob_start", &s.PromptLogprobStart},
		{"logprob_token_ids", &s.LogprobTokenIDs},
		{"flat_logprobs", &s.FlatLogprobs},
		{"detokenize", present[bool]{&s.Detokenize}},
		{"skip_special_tokens", present[bool]{&s.SkipSpecialTokens}},
		{"spaces_between_special_tokens", present[bool]{&s.SpacesBetweenSpecialTokens}},
		{"include_stop_str_in_output", &s.IncludeStopStrInOutput},
		{"output_kind", (*int)(&s.OutputKind)},
		{"stream_interval", &s.StreamInterval},
		{"skip_clone", &s.SkipClone},
		{"output_text_buffer_length", &s.OutputTextBufferLength},
		{"_eos_token_id", &s.EOSTokenID},
		{"_all_stop_token_ids", &s.AllStopTokenIDs},
		{"_watermarking_skipped", &s.WatermarkingSkipped},
		{"structured_outputs", opt[StructuredOutputs, *StructuredOutputs]{&s.StructuredOutputs}},
		{"logit_bias", &s.LogitBias},
		{"allowed_token_ids", &s.AllowedTokenIDs},
		{"extra_args", &s.ExtraArgs},
		{"bad_words", &s.BadWords},
		{"_bad_words_token_ids", &s.BadWordsTokenIDs},
		{"skip_reading_prefix_cache", &s.SkipReadingPrefixCache},
		{"thinking_token_budget", &s.ThinkingTokenBudget},
		{"repetition_detection", opt[RepetitionDetection, *RepetitionDetection]{&s.RepetitionDetection}},
		{"routed_experts_prompt_start", &s.RoutedExpertsPromptStart},
		{"trace_decode_token_ids", &s.TraceDecodeTokenIDs},
	}
}

func (s *StructuredOutputs) bindings() []binding {
	return []binding{
		{"json", &s.JSON},
		{"regex", (*nilable)(&s.Regex)},
		{"choice", (*nilableList)(&s.Choice)},
		{"grammar", (*nilable)(&s.Grammar)},
		{"json_object", &s.JSONObject},
		{"disable_any_whitespace", &s.DisableAnyWhitespace},
		{"disable_additional_properties", &s.DisableAdditionalProperties},
		{"whitespace_pattern", (*nilable)(&s.WhitespacePattern)},
		{"structural_tag", (*nilable)(&s.StructuralTag)},
		{"_backend", (*nilable)(&s.Backend)},
		{"_backend_was_auto", &s.BackendWasAuto},
	}
}

func (r *RepetitionDetection) bindings() []binding {
	return []binding{
		{"max_pattern_size", &r.MaxPatternSize},
		{"min_pattern_size", &r.MinPatternSize},
		{"min_count", &r.MinCount},
	}
}
