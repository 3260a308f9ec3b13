// SPDX-License-Identifier: Apache-2.0

package codec

// The keys that requests often have stand first and are written here, each with
// the header of its text; the rest costs a look at each when one of them is set.

// rare reports whether s has a key that is not among the usual ones.
func (s *SamplingParams) rare() bool {
	return s.Watermarking != nil || s.Stop != nil || s.Logprobs != nil || s.PromptLogprobs != nil ||
		s.PromptLogprobTokenIDs != nil || s.PromptLogprobStart != nil || s.LogprobTokenIDs != nil ||
		s.FlatLogprobs || s.Detokenize != nil || s.SkipSpecialTokens != nil || s.SpacesBetweenSpecialTokens != nil ||
		s.IncludeStopStrInOutput || s.StreamInterval != nil || s.SkipClone || s.OutputTextBufferLength != 0 ||
		s.WatermarkingSkipped || s.StructuredOutputs != nil || s.LogitBias != nil || s.AllowedTokenIDs != nil ||
		s.ExtraArgs != nil || s.BadWords != nil || s.BadWordsTokenIDs != nil || s.SkipReadingPrefixCache != nil ||
		s.ThinkingTokenBudget != nil || s.RepetitionDetection != nil || s.RoutedExpertsPromptStart != 0 ||
		s.TraceDecodeTokenIDs != nil
}

// appendNumbers appends the numbers among the usual keys, and how many it did.
func appendNumbers(b []byte, s *SamplingParams) (_ []byte, n int) {
	if s.N > 1 || s.N < 0 {
		b, n = appendInt(append(b, "\xa1n"...), s.N), n+1
	}
	if s.PresencePenalty != 0 {
		b, n = appendFloat(append(b, "\xb0presence_penalty"...), s.PresencePenalty), n+1
	}
	if s.FrequencyPenalty != 0 {
		b, n = appendFloat(append(b, "\xb1frequency_penalty"...), s.FrequencyPenalty), n+1
	}
	if p := s.RepetitionPenalty; p != nil && *p != 1 {
		b, n = appendFloat(append(b, "\xb2repetition_penalty"...), *p), n+1
	}
	if p := s.Temperature; p != nil && *p != 1 {
		b, n = appendFloat(append(b, "\xabtemperature"...), *p), n+1
	}
	if p := s.TopP; p != nil && *p != 1 {
		b, n = appendFloat(append(b, "\xa5top_p"...), *p), n+1
	}
	if s.TopK != 0 {
		b, n = appendInt(append(b, "\xa5top_k"...), s.TopK), n+1
	}
	if s.MinP != 0 {
		b, n = appendFloat(append(b, "\xa5min_p"...), s.MinP), n+1
	}
	if s.Seed != nil {
		b, n = appendInt(append(b, "\xa4seed"...), int(*s.Seed)), n+1
	}
	return b, n
}

// appendLimits appends the usual keys that say where an answer ends. An engine
// that does not know _eos_token_id has it in the request.
func appendLimits(b []byte, s *SamplingParams, knowsEOS bool) (_ []byte, n int) {
	if s.StopTokenIDs != nil {
		b, n = appendFew(append(b, "\xaestop_token_ids"...), s.StopTokenIDs), n+1
	}
	if s.IgnoreEOS {
		b, n = append(append(b, "\xaaignore_eos"...), mTrue), n+1
	}
	switch s.MaxTokens {
	case 0, 16: // vLLM's default
	case NoLimit:
		b, n = append(append(b, "\xaamax_tokens"...), mNil), n+1
	default:
		b, n = appendInt(append(b, "\xaamax_tokens"...), s.MaxTokens), n+1
	}
	if s.MinTokens != 0 {
		b, n = appendInt(append(b, "\xaamin_tokens"...), s.MinTokens), n+1
	}
	if s.OutputKind != Cumulative {
		b, n = appendInt(append(b, "\xaboutput_kind"...), int(s.OutputKind)), n+1
	}
	if s.EOSTokenID != nil && knowsEOS {
		b, n = appendUint(append(b, "\xad_eos_token_id"...), uint64(*s.EOSTokenID)), n+1
	}
	if s.AllStopTokenIDs != nil {
		b, n = appendFew(append(b, "\xb3_all_stop_token_ids"...), s.AllStopTokenIDs), n+1
	}
	return b, n
}

// appendFew is appendTokens for lists that are too short for its preparations.
func appendFew(b []byte, tokens []uint32) []byte {
	b = appendArray(b, len(tokens))
	for _, t := range tokens {
		b = appendUint(b, uint64(t))
	}
	return b
}
