// SPDX-License-Identifier: Apache-2.0

package codec

func (r *rare) decode() (Extra, error) {
	c := &cursor{b: r.b, at: r.at, aux: r.aux}
	var x Extra
	slots := r.layout.output[2:]
	for i := range min(r.n, len(slots)) {
		c.field = slots[i].field.String()
		c.extraField(r.layout, &x, slots[i].field)
	}
	if err := c.err("outputs", r.row); err != nil {
		return Extra{}, err
	}
	return x, nil
}

func (c *cursor) extraField(l *Layout, x *Extra, f field) {
	switch f {
	case fNewLogprobs:
		x.Logprobs = c.logprobs(len(l.lists), l.nestedLogprobs)
	case fNewPromptLogprobsTensors:
		x.PromptLogprobs = c.logprobs(len(l.tensors), false)
	case fPoolingOutput:
		x.Pooling = c.tensor()
	case fStopReason:
		x.StopReason = c.stopReason()
	case fEvents:
		c.bound(list[Event, *Event]{&x.Events})
	case fKVTransferParams:
		x.KVTransferParams = c.params()
	case fECTransferParams:
		x.ECTransferParams = c.params()
	case fTraceHeaders:
		x.TraceHeaders = c.headers()
	case fPrefillStats:
		c.bound(opt[PrefillStats, *PrefillStats]{&x.PrefillStats})
	case fRoutedExperts:
		x.RoutedExperts = c.tensor()
	case fNumNansInLogits:
		x.NumNaNs = c.int()
	case fMMCacheMissHashes:
		x.MMCacheMissHashes = c.strings()
	case fNewSamplingMask:
		x.SamplingMask = c.samplingMask()
	case fSpecDecodeMetrics:
		c.bound(opt[SpecDecodeMetrics, *SpecDecodeMetrics]{&x.SpecDecode})
	case fPromptTokenIDLogprobs:
		x.PromptTokenIDLogprobs = c.tensor()
	case fError:
		c.bound(opt[RequestError, *RequestError]{&x.Error})
	case fNumCachedTokens:
		x.NumCachedTokens = c.int()
	case fNumExternalComputedTokens:
		x.NumExternalComputedTokens = c.int()
	default:
		c.skip()
	}
}

func (c *cursor) stopReason() any {
	switch {
	case c.null():
		return nil
	case c.isText():
		return c.string()
	}
	return c.int64()
}

func (c *cursor) samplingMask() *SamplingMask {
	if c.null() {
		return nil
	}
	m := &SamplingMask{}
	for i := range c.array() {
		c.atOrSkip(i, &m.TokenIDs, &m.Offsets, &m.CU)
	}
	if c.ok() && m.TokenIDs == nil {
		c.fail("sampling mask without tokens")
	}
	return m
}

func (e *Event) bindings() []binding {
	return []binding{{"type", (*int)(&e.Type)}, {"timestamp", &e.Timestamp}}
}

func (p *PrefillStats) bindings() []binding {
	return []binding{
		{"num_prompt_tokens", &p.NumPromptTokens},
		{"num_computed_tokens", &p.NumComputedTokens},
		{"num_cached_tokens", &p.NumCachedTokens},
		{"num_local_cached_tokens", &p.NumLocalCachedTokens},
		{"num_external_cached_tokens", &p.NumExternalCachedTokens},
		{"num_cache_creation_tokens", &p.NumCacheCreationTokens},
	}
}

func (s *SpecDecodeMetrics) bindings() []binding {
	return []binding{
		{"num_spec_tokens", &s.NumSpecTokens},
		{"histogram", &s.Histogram},
		{"num_draft_tokens", &s.NumDraftTokens},
		{"per_step_accepted", &s.PerStepAccepted},
		{"per_step_drafted", &s.PerStepDrafted},
	}
}

func (r *RequestError) bindings() []binding {
	return []binding{{"code", &r.Code}, {"message", &r.Message}, {"retryable", &r.Retryable}}
}
