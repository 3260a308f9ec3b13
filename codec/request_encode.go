// SPDX-License-Identifier: Apache-2.0

package codec

// AppendRequest appends the payload of an ADD to dst and the data of tensors of
// 256 bytes and more to aux, by reference. It refuses what no engine could read
// (invalid UTF-8, tensors whose data does not fill their shape, values without
// a msgpack form) and fields that would change the answer but have no place in
// the release, with a *FieldError; the rules of sampling are Validate's. On an
// error dst and aux come back as they were.
//
// A request of tokens and plain sampling parameters costs no allocation when
// dst has room: 5 bytes a token are reserved. vLLM: EngineCoreRequest.
func (l *Layout) AppendRequest(dst []byte, aux [][]byte, r *Request) ([]byte, [][]byte, error) {
	e := encoder{b: dst, aux: aux, base: len(aux), layout: l}
	if l.certain(r) {
		e.usual(l, r)
		return e.b, aux, nil
	}
	if err := r.encodable(); err != nil {
		return dst, aux, err
	}
	if err := l.Holds(r); err != nil {
		return dst, aux, err
	}
	e.b = appendArray(e.b, len(l.request))
	for _, s := range l.request {
		e.requestField(l, r, s)
	}
	if e.err != nil {
		return dst, aux, inMessage("request", r.ID, e.err)
	}
	return e.b, e.aux, nil
}

func (e *encoder) requestField(l *Layout, r *Request, s slot) {
	switch s.field {
	case fRequestID:
		e.b = appendString(e.b, r.ID)
	case fPromptTokenIDs:
		e.b = appendTokens(e.b, r.Prompt)
	case fMMFeatures:
		e.features(r.MMFeatures)
	case fSamplingParams:
		e.sampling(r.Sampling)
	case fPoolingParams:
		e.pooling(l, r.Pooling)
	case fEosTokenID:
		e.eos(r.Sampling)
	case fArrivalTime:
		e.b = appendFloat(e.b, r.ArrivalTime)
	case fLoraRequest:
		e.b = l.appendLoRA(e.b, r.LoRA)
	case fCacheSalt:
		e.b = appendText(e.b, r.CacheSalt)
	case fDataParallelRank:
		e.b = appendOptInt(e.b, r.DataParallelRank)
	case fPromptEmbeds:
		e.tensor(r.PromptEmbeds)
	case fPromptIsTokenIDs:
		e.bools(r.PromptIsToken)
	case fClientIndex:
		e.b = appendInt(e.b, r.ClientIndex)
	case fCurrentWave:
		e.b = appendInt(e.b, r.CurrentWave)
	case fPriority:
		e.b = appendInt(e.b, r.Priority)
	default:
		e.requestTail(r, s)
	}
}

// requestTail has the fields since 0.10.2, and writes what we do not know as
// its default.
func (e *encoder) requestTail(r *Request, s slot) {
	switch s.field {
	case fTraceHeaders:
		e.b = appendHeaders(e.b, r.TraceHeaders)
	case fResumable:
		e.b = appendBool(e.b, r.Resumable)
	case fExternalReqID:
		e.b = appendText(e.b, r.ExternalID)
	case fReasoningEnded:
		e.b = appendOptBool(e.b, r.ReasoningEnded)
	case fReasoningParserKwargs:
		e.params("reasoning_parser_kwargs", r.ReasoningParserKwargs)
	case fAbortImmediately:
		e.b = appendBool(e.b, r.AbortImmediately)
	case fSessionID:
		e.b = appendText(e.b, r.SessionID)
	case fKVHints:
		e.hints(r.KVHints)
	default:
		e.b = append(e.b, s.zero)
	}
}

func appendHeaders(b []byte, m map[string]string) []byte {
	if m == nil {
		return append(b, mNil)
	}
	b = appendMap(b, len(m))
	for k, v := range m {
		b = appendString(appendString(b, k), v)
	}
	return b
}

func (e *encoder) bools(v []bool) {
	if v == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendArray(e.b, len(v))
	for _, x := range v {
		e.b = appendBool(e.b, x)
	}
}

// eos fills the request's own field of the releases before 0.17.0, whose
// engines do not look into the sampling parameters for it.
func (e *encoder) eos(s *SamplingParams) {
	if s == nil || s.EOSTokenID == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendUint(e.b, uint64(*s.EOSTokenID))
}

func (e *encoder) hints(h *KVHints) {
	if h == nil {
		e.b = append(e.b, mNil)
	} else if e.err == nil {
		e.b, e.err = appendRecord(e.b, h)
		e.err = inField("kv_hints", e.err)
	}
}

func (h *KVHints) bindings() []binding {
	return []binding{
		{"protocol_version", &h.ProtocolVersion},
		{"message_id", &h.MessageID},
		{"actions", list[KVAction, *KVAction]{&h.Actions}},
	}
}

func (a *KVAction) bindings() []binding {
	return []binding{
		{"action_id", &a.ID}, {"action_type", &a.Type}, {"action_version", &a.Version}, {"payload", filled{&a.Payload}},
	}
}

// filled binds a map that is empty where Go has nil.
type filled struct{ p *map[string]any }

func (f filled) appendTo(b []byte) ([]byte, error) {
	if *f.p == nil {
		return append(b, 0x80), nil
	}
	return AppendValue(b, *f.p)
}

func (f filled) readFrom(c *cursor) { *f.p = c.params() }
