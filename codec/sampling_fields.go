// SPDX-License-Identifier: Apache-2.0

package codec

func (s *SamplingParams) parameters() []parameter {
	return []parameter{
		{fN, &s.N},
		{fPresencePenalty, &s.PresencePenalty},
		{fFrequencyPenalty, &s.FrequencyPenalty},
		{fRepetitionPenalty, present[float64]{&s.RepetitionPenalty}},
		{fTemperature, present[float64]{&s.Temperature}},
		{fWatermarking, &s.Watermarking},
		{fTopP, present[float64]{&s.TopP}},
		{fTopK, &s.TopK},
		{fMinP, &s.MinP},
		{fSeed, &s.Seed},
		{fStop, &s.Stop},
		{fStopTokenIDs, &s.StopTokenIDs},
		{fIgnoreEos, &s.IgnoreEOS},
		{fMaxTokens, &s.MaxTokens},
		{fMinTokens, &s.MinTokens},
		{fLogprobs, &s.Logprobs},
		{fPromptLogprobs, &s.PromptLogprobs},
		{fPromptLogprobTokenIDs, &s.PromptLogprobTokenIDs},
		{fPromptLogprobStart, &s.PromptLogprobStart},
		{fLogprobTokenIDs, &s.LogprobTokenIDs},
		{fFlatLogprobs, &s.FlatLogprobs},
		{fDetokenize, present[bool]{&s.Detokenize}},
		{fSkipSpecialTokens, present[bool]{&s.SkipSpecialTokens}},
		{fSpacesBetweenSpecialTokens, present[bool]{&s.SpacesBetweenSpecialTokens}},
		{fIncludeStopStrInOutput, &s.IncludeStopStrInOutput},
		{fOutputKind, (*int)(&s.OutputKind)},
		{fStreamInterval, &s.StreamInterval},
		{fSkipClone, &s.SkipClone},
		{fOutputTextBufferLength, &s.OutputTextBufferLength},
		{fOwnEosTokenID, &s.EOSTokenID},
		{fOwnAllStopTokenIDs, &s.AllStopTokenIDs},
		{fOwnWatermarkingSkipped, &s.WatermarkingSkipped},
		{fGuidedDecoding, nil},
		{fStructuredOutputs, opt[StructuredOutputs, *StructuredOutputs]{&s.StructuredOutputs}},
		{fLogitBias, &s.LogitBias},
		{fAllowedTokenIDs, &s.AllowedTokenIDs},
		{fExtraArgs, &s.ExtraArgs},
		{fBadWords, &s.BadWords},
		{fOwnBadWordsTokenIDs, &s.BadWordsTokenIDs},
		{fSkipReadingPrefixCache, &s.SkipReadingPrefixCache},
		{fThinkingTokenBudget, &s.ThinkingTokenBudget},
		{fRepetitionDetection, opt[RepetitionDetection, *RepetitionDetection]{&s.RepetitionDetection}},
		{fRoutedExpertsPromptStart, &s.RoutedExpertsPromptStart},
		{fTraceDecodeTokenIDs, &s.TraceDecodeTokenIDs},
	}
}

func (s *StructuredOutputs) bindings() []binding {
	return []binding{
		{"json", schema{&s.JSON}},
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
