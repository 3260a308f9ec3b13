// SPDX-License-Identifier: Apache-2.0

package codec

// DecodeRequest reads the payload of an ADD, frames[0], with the tensor frames
// after it. Strings and numbers are copied, tensors alias their frames. A
// shorter array than the layout's has the defaults at its end, if all required
// fields are there; what is longer is read over. The error is a *DecodeError.
//
// It is the engine's side, and looks at structure only: Request.Validate has
// the rules that an engine enforces on the values.
func (l *Layout) DecodeRequest(frames [][]byte) (*Request, error) {
	if len(frames) == 0 {
		return nil, &DecodeError{Message: "request", Row: -1, Reason: "no payload frame"}
	}
	c := &cursor{b: frames[0], aux: frames[1:]}
	r := &Request{}
	n := c.array()
	if c.ok() && n < l.need {
		c.fail("required fields are missing")
	}
	for i := range n {
		if i >= len(l.request) {
			c.skip()
			continue
		}
		c.field = l.request[i].field.String()
		c.requestField(l, r, l.request[i].field)
		if !c.ok() {
			break
		}
	}
	c.end()
	if err := c.err("request", -1); err != nil {
		return nil, err
	}
	return r, nil
}

func (c *cursor) requestField(l *Layout, r *Request, f field) {
	switch f {
	case fRequestID:
		r.ID = c.string()
	case fPromptTokenIDs:
		r.Prompt = c.tokenList()
	case fMMFeatures:
		r.MMFeatures = c.features()
	case fMMInputs, fMMKwargs:
		// Read over, they would leave a prompt without what it is about.
		if !c.null() && c.array() > 0 {
			c.fail("multi-modal inputs of before 0.10.2 are not read")
		}
	case fSamplingParams:
		r.Sampling = c.sampling(l)
	case fPoolingParams:
		r.Pooling = c.pooling(l)
	case fEosTokenID:
		if !c.null() {
			eos := c.token()
			if r.Sampling != nil && r.Sampling.EOSTokenID == nil {
				r.Sampling.EOSTokenID = &eos
			}
		}
	case fArrivalTime:
		r.ArrivalTime = c.float()
	case fLoraRequest:
		r.LoRA = c.lora(l)
	case fCacheSalt:
		r.CacheSalt = c.optText()
	case fDataParallelRank:
		c.bound(&r.DataParallelRank)
	case fPromptEmbeds:
		r.PromptEmbeds = c.tensor()
	case fPromptIsTokenIDs:
		r.PromptIsToken = c.bools()
	case fClientIndex:
		r.ClientIndex = c.int()
	case fCurrentWave:
		r.CurrentWave = c.int()
	case fPriority:
		r.Priority = c.int()
	default:
		c.requestTail(r, f)
	}
}

func (c *cursor) requestTail(r *Request, f field) {
	switch f {
	case fTraceHeaders:
		r.TraceHeaders = c.headers()
	case fResumable:
		r.Resumable = c.bool()
	case fExternalReqID:
		r.ExternalID = c.optText()
	case fReasoningEnded:
		c.bound(&r.ReasoningEnded)
	case fReasoningParserKwargs:
		r.ReasoningParserKwargs = c.params()
	case fAbortImmediately:
		r.AbortImmediately = c.bool()
	case fSessionID:
		r.SessionID = c.optText()
	case fKVHints:
		c.bound(opt[KVHints, *KVHints]{&r.KVHints})
	default:
		c.skip()
	}
}

func (c *cursor) optText() string {
	if c.null() {
		return ""
	}
	return c.string()
}

func (c *cursor) bools() []bool {
	if c.null() {
		return nil
	}
	out := make([]bool, c.array())
	for i := range out {
		out[i] = c.bool()
	}
	return out
}
