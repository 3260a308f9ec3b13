// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"slices"
)

// The bounds that vLLM checks while it decodes.
const (
	maxN              = 16384
	maxLogprobTokens  = 128
	defaultMaxTokens  = 16
	unlimitedThinking = -1
)

func checkSampling(r *Request) (field, rule string) {
	s := r.Sampling
	if s == nil {
		return "", ""
	}
	if s.RoutedExpertsPromptStart < 0 || s.RoutedExpertsPromptStart > r.PromptLen() {
		return "routed_experts_prompt_start", fmt.Sprintf("must be in [0, %d], is %d",
			r.PromptLen(), s.RoutedExpertsPromptStart)
	}
	for _, check := range [...]func(*SamplingParams) (field, rule string){
		checkFloats, checkCounts, checkLengths, checkStops, checkLogprobs, checkStructured, checkRepetition,
	} {
		if field, rule := check(s); rule != "" {
			return field, rule
		}
	}
	return "", ""
}

// within is false for NaN, which no comparison holds for.
func within(v, least, most float64) bool { return v >= least && v <= most }

func checkFloats(s *SamplingParams) (field, rule string) {
	switch {
	case !within(s.PresencePenalty, -2, 2):
		return "presence_penalty", fmt.Sprintf("must be in [-2, 2], is %v", s.PresencePenalty)
	case !within(s.FrequencyPenalty, -2, 2):
		return "frequency_penalty", fmt.Sprintf("must be in [-2, 2], is %v", s.FrequencyPenalty)
	case s.RepetitionPenalty != nil && (!finite(*s.RepetitionPenalty) || *s.RepetitionPenalty <= 0):
		return "repetition_penalty", fmt.Sprintf("must be over 0 and finite, is %v", *s.RepetitionPenalty)
	case s.Temperature != nil && !within(*s.Temperature, 0, 2):
		return "temperature", fmt.Sprintf("must be in [0, 2], is %v", *s.Temperature)
	case s.TopP != nil && (!within(*s.TopP, 0, 1) || *s.TopP == 0):
		return "top_p", fmt.Sprintf("must be in (0, 1], is %v", *s.TopP)
	case !within(s.MinP, 0, 1):
		return "min_p", fmt.Sprintf("must be in [0, 1], is %v", s.MinP)
	}
	for id, bias := range s.LogitBias {
		if !finite(bias) {
			return "logit_bias", fmt.Sprintf("must be finite, is %v for token %d", bias, id)
		}
	}
	return "", ""
}

func checkCounts(s *SamplingParams) (field, rule string) {
	switch {
	case s.N < 0 || s.N > maxN:
		return "n", fmt.Sprintf("must be in [1, %d], is %d", maxN, s.N)
	case s.N > 1 && s.Temperature != nil && *s.Temperature == 0:
		return "n", fmt.Sprintf("must be 1 at temperature 0, is %d", s.N)
	case s.TopK < -1:
		return "top_k", fmt.Sprintf("must be at least -1, is %d", s.TopK)
	case s.StreamInterval != nil && *s.StreamInterval < 1:
		return "stream_interval", fmt.Sprintf("must be at least 1, is %d", *s.StreamInterval)
	case s.ThinkingTokenBudget != nil && *s.ThinkingTokenBudget < unlimitedThinking:
		return "thinking_token_budget", fmt.Sprintf("must be at least 0, or -1, is %d", *s.ThinkingTokenBudget)
	case s.OutputKind < Cumulative || s.OutputKind > FinalOnly:
		return "output_kind", fmt.Sprintf("must be 0, 1 or 2, is %d", s.OutputKind)
	}
	return "", ""
}

func checkLengths(s *SamplingParams) (field, rule string) {
	most := s.MaxTokens
	switch {
	case most == NoLimit:
		return "max_tokens", "must be set before an engine sees it"
	case most < 0:
		return "max_tokens", fmt.Sprintf("must be at least 1, is %d", most)
	case most == 0:
		most = defaultMaxTokens
	}
	switch {
	case s.MinTokens < 0:
		return "min_tokens", fmt.Sprintf("must be at least 0, is %d", s.MinTokens)
	case s.MinTokens > most:
		return "min_tokens", fmt.Sprintf("must be at most max_tokens %d, is %d", most, s.MinTokens)
	}
	return "", ""
}

func checkStops(s *SamplingParams) (field, rule string) {
	switch {
	case slices.Contains(s.Stop, ""):
		return "stop", "must not have an empty string"
	case len(s.Stop) > 0 && s.Detokenize != nil && !*s.Detokenize:
		return "stop", "needs detokenize"
	case slices.Contains(s.BadWords, ""):
		return "bad_words", "must not have an empty string"
	}
	return "", ""
}

func checkLogprobs(s *SamplingParams) (field, rule string) {
	switch {
	case s.Logprobs != nil && *s.Logprobs < -1:
		return "logprobs", fmt.Sprintf("must be at least 0, or -1, is %d", *s.Logprobs)
	case s.PromptLogprobs != nil && *s.PromptLogprobs < -1:
		return "prompt_logprobs", fmt.Sprintf("must be at least 0, or -1, is %d", *s.PromptLogprobs)
	case s.PromptLogprobStart != nil && *s.PromptLogprobStart < 0:
		return "prompt_logprob_start", fmt.Sprintf("must be at least 0, is %d", *s.PromptLogprobStart)
	case len(s.LogprobTokenIDs) > maxLogprobTokens:
		return "logprob_token_ids", fmt.Sprintf("must have at most %d entries, has %d",
			maxLogprobTokens, len(s.LogprobTokenIDs))
	}
	if t := s.PromptLogprobTokenIDs; t != nil {
		if _, err := t.Ints(); err != nil || len(t.Shape) != 2 || !t.NumPy {
			return "prompt_logprob_token_ids", "must be a numpy array of integers with shape [rows, ids]"
		}
	}
	return "", ""
}

func checkStructured(s *SamplingParams) (field, rule string) {
	o := s.StructuredOutputs
	if o == nil {
		return "", ""
	}
	n := 0
	for _, set := range [...]bool{
		o.JSON != nil, o.Regex != "", o.Choice != nil, o.Grammar != "", o.JSONObject != nil, o.StructuralTag != "",
	} {
		n += btoi(set)
	}
	if n != 1 {
		return "structured_outputs", fmt.Sprintf("must have exactly one constraint, has %d", n)
	}
	switch v := o.JSON.(type) {
	case nil, string:
		return "", ""
	case map[string]any:
		if v != nil { // one that is nil is no constraint on the wire.
			return "", ""
		}
	}
	return "structured_outputs.json", fmt.Sprintf("must be a string or a map that is not nil, is %T", o.JSON)
}

func checkRepetition(s *SamplingParams) (field, rule string) {
	d := s.RepetitionDetection
	switch {
	case d == nil:
	case d.MaxPatternSize < 0 || d.MinPatternSize < 0 || d.MinPatternSize > d.MaxPatternSize:
		return "repetition_detection", fmt.Sprintf("must have 0 <= min_pattern_size <= max_pattern_size, has %d and %d",
			d.MinPatternSize, d.MaxPatternSize)
	case d.MaxPatternSize > 0 && d.MinCount < 2:
		return "repetition_detection", fmt.Sprintf("must have a min_count of at least 2, has %d", d.MinCount)
	}
	return "", ""
}
