// SPDX-License-Identifier: Apache-2.0

package codec

// Holds refuses a request with a field that changes the answer and that the
// release lacks: a *FieldError that wraps ErrUnsupported and names the field and
// the releases that have it, "since 0.19.0". Nil means that nothing is lost that
// matters. AppendRequest asks it first. A plain request costs a few ns and no
// allocation.
//
// Refused are the fields of mattersRequest, mattersSampling, mattersPooling and
// mattersLoRA. What those do not list is left out in silence where a release
// lacks it, because an engine's tokens do not depend on it:
//
//   - trace_headers, external_req_id, session_id, kv_hints, current_wave: they
//     inform, or hint at what to cache;
//   - flat_logprobs, stream_interval, skip_clone, _watermarking_skipped: read by
//     Python's front end alone;
//   - watermarking of false: a release without the key has no watermark;
//   - skip_reading_prefix_cache of both kinds, requires_token_ids: an engine
//     without them decides by itself;
//   - _eos_token_id before 0.17.0, structured_outputs before 0.11.1 and
//     use_activation before 0.11.1: they travel under an older name.
func (l *Layout) Holds(r *Request) error {
	if len(l.request) < fullRequest {
		for _, m := range mattersRequest {
			if position(l.request, m.field) < 0 && m.set(r) {
				return l.lacks(r.ID, "", m.field, func(l *Layout) bool { return position(l.request, m.field) >= 0 })
			}
		}
	}
	if s := r.Sampling; s != nil && (l.sampling != fullSampling || s.PromptLogprobTokenIDs != nil) {
		if err := l.holdsSampling(r.ID, s); err != nil {
			return err
		}
	}
	if r.Pooling != nil {
		if err := l.holdsPooling(r.ID, r.Pooling); err != nil {
			return err
		}
	}
	if r.LoRA != nil {
		return l.holdsLoRA("request", r.ID, "lora_request.", r.LoRA)
	}
	return nil
}

// fullRequest is the length since which every field that matters has its place,
// and fullSampling the parameters of the release since which all are known.
const fullRequest = 20

var fullSampling = layouts[len(layouts)-1].sampling

// mattersRequest are the fields that change the answer, of those that some
// release lacks; mattersSampling, mattersPooling and mattersLoRA are the same.
var mattersRequest = [...]struct {
	field field
	set   func(*Request) bool
}{
	{fMMFeatures, func(r *Request) bool { return len(r.MMFeatures) > 0 }},
	{fPromptEmbeds, func(r *Request) bool { return r.PromptEmbeds != nil }},
	{fPromptIsTokenIDs, func(r *Request) bool { return r.PromptIsToken != nil }},
	{fClientIndex, func(r *Request) bool { return r.ClientIndex != 0 }},
	{fPriority, func(r *Request) bool { return r.Priority != 0 }},
	{fResumable, func(r *Request) bool { return r.Resumable }},
	{fReasoningEnded, func(r *Request) bool { return r.ReasoningEnded != nil }},
	{fReasoningParserKwargs, func(r *Request) bool { return r.ReasoningParserKwargs != nil }},
	{fAbortImmediately, func(r *Request) bool { return r.AbortImmediately }},
}

var mattersSampling = [...]struct {
	field field
	set   func(*SamplingParams) bool
}{
	{fRepetitionDetection, func(s *SamplingParams) bool { return s.RepetitionDetection != nil }},
	{fThinkingTokenBudget, func(s *SamplingParams) bool {
		return s.ThinkingTokenBudget != nil && *s.ThinkingTokenBudget != unlimitedThinking
	}},
	{fLogprobTokenIDs, func(s *SamplingParams) bool { return len(s.LogprobTokenIDs) > 0 }},
	{fRoutedExpertsPromptStart, func(s *SamplingParams) bool { return s.RoutedExpertsPromptStart != 0 }},
	{fTraceDecodeTokenIDs, func(s *SamplingParams) bool { return len(s.TraceDecodeTokenIDs) > 0 }},
	{fWatermarking, func(s *SamplingParams) bool { return s.Watermarking != nil && *s.Watermarking }},
	{fPromptLogprobStart, func(s *SamplingParams) bool { return s.PromptLogprobStart != nil }},
}

func (l *Layout) holdsSampling(id string, s *SamplingParams) error {
	for _, m := range mattersSampling {
		if !l.sampling.has(m.field) && m.set(s) {
			return l.lacks(id, "", m.field, func(l *Layout) bool { return l.sampling.has(m.field) })
		}
	}
	if t := s.PromptLogprobTokenIDs; t != nil && l.before(0, 32, 0) {
		_, list := sameRow(t)
		holds := func(l *Layout) bool {
			return l.sampling.has(fPromptLogprobTokenIDs) && (list || !l.before(0, 32, 0))
		}
		if !holds(l) {
			return l.lacks(id, "", fPromptLogprobTokenIDs, holds)
		}
	}
	return nil
}

var mattersPooling = [...]struct {
	field field
	set   func(*PoolingParams) bool
}{
	{fStepTagID, func(p *PoolingParams) bool { return p.StepTagID != nil }},
	{fReturnedTokenIDs, func(p *PoolingParams) bool { return p.ReturnedTokenIDs != nil }},
	{fLateInteractionParams, func(p *PoolingParams) bool { return p.LateInteraction != nil }},
	{fExtraKwargs, func(p *PoolingParams) bool { return p.ExtraKwargs != nil }},
	{fLateChunkingParams, func(p *PoolingParams) bool { return p.LateChunking != nil }},
}

func (l *Layout) holdsPooling(id string, p *PoolingParams) error {
	const in = "pooling_params."
	for _, m := range mattersPooling {
		if position(l.pooling, m.field) < 0 && m.set(p) {
			return l.lacks(id, in, m.field, func(l *Layout) bool { return position(l.pooling, m.field) >= 0 })
		}
	}
	if p.UseActivation != nil && !l.hasActivation() {
		return l.lacks(id, in, fUseActivation, (*Layout).hasActivation)
	}
	if !l.hasTask(p.Task) {
		err := l.lacks(id, in, fTask, func(l *Layout) bool { return l.hasTask(p.Task) })
		err.Rule = printable(p.Task) + " " + err.Rule
		return err
	}
	return nil
}

var mattersLoRA = [...]struct {
	field field
	set   func(*LoRARequest) bool
}{
	{fLoadInplace, func(r *LoRARequest) bool { return r.InPlace }},
	{fIs3dLoraWeight, func(r *LoRARequest) bool { return r.Is3D }},
}

func (l *Layout) holdsLoRA(message, id, in string, r *LoRARequest) error {
	for _, m := range mattersLoRA {
		if m.set(r) && position(l.lora, m.field) < 0 {
			err := l.lacks(id, in, m.field, func(l *Layout) bool { return position(l.lora, m.field) >= 0 })
			err.Message = message
			return err
		}
	}
	return nil
}

// lacks is the refusal of a field that l has no place for.
func (l *Layout) lacks(id, in string, f field, has func(*Layout) bool) *FieldError {
	return &FieldError{
		Message: "request", ID: cut(id), Field: in + f.String(), Err: ErrUnsupported,
		Rule: "has no place in vllm " + l.since + ", only " + releasesThat(has),
	}
}

// releasesThat gives "since 0.19.0" or, where it is gone again, "from 0.11.1 and
// before 0.16.0".
func releasesThat(has func(*Layout) bool) string {
	from := 0
	for from < len(layouts) && !has(&layouts[from]) {
		from++
	}
	if from == len(layouts) {
		return "in none that is known"
	}
	for i := from; i < len(layouts); i++ {
		if !has(&layouts[i]) {
			return "from " + layouts[from].since + " and before " + layouts[i].since
		}
	}
	return "since " + layouts[from].since
}
