// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"unicode/utf8"
)

// extra appends what follows the tokens of a row that has rare fields.
func (e *encoder) extra(l *Layout, row *Output) {
	x, err := row.Extra()
	if err != nil {
		e.err = err
		return
	}
	ok := validText(x.MMCacheMissHashes...)
	for k, v := range x.TraceHeaders {
		ok = ok && validText(k, v)
	}
	if !ok {
		e.err = &FieldError{Message: "outputs", Field: "trace_headers", Rule: "is not valid UTF-8"}
		return
	}
	for _, s := range l.output[2:] {
		if s.field == fFinishReason {
			e.finish(row.Finish)
			continue
		}
		e.extraField(l, &x, s)
	}
}

func (e *encoder) extraField(l *Layout, x *Extra, s slot) {
	switch s.field {
	case fNewLogprobs:
		e.logprobs(s.field, x.Logprobs, len(l.lists), l.nestedLogprobs)
	case fNewPromptLogprobsTensors:
		e.logprobs(s.field, x.PromptLogprobs, len(l.tensors), false)
	case fPoolingOutput:
		e.checked(s.field, x.Pooling)
	case fStopReason:
		e.stopReason(x.StopReason)
	case fEvents:
		if x.Events == nil {
			e.b = append(e.b, mNil)
			return
		}
		e.nest(list[Event, *Event]{&x.Events})
	case fKVTransferParams:
		e.params(s.field.String(), x.KVTransferParams)
	case fECTransferParams:
		e.params(s.field.String(), x.ECTransferParams)
	case fTraceHeaders:
		e.b = appendHeaders(e.b, x.TraceHeaders)
	case fPrefillStats:
		e.prefill(x.PrefillStats)
	case fRoutedExperts:
		e.checked(s.field, x.RoutedExperts)
	case fNumNansInLogits:
		e.b = appendInt(e.b, x.NumNaNs)
	default:
		e.extraTail(x, s)
	}
}

func (e *encoder) extraTail(x *Extra, s slot) {
	switch s.field {
	case fMMCacheMissHashes:
		e.b = appendStrings(e.b, x.MMCacheMissHashes)
	case fNewSamplingMask:
		if x.SamplingMask == nil {
			e.b = append(e.b, mNil)
			return
		}
		e.b = append(e.b, 0x93)
		e.checked(s.field, x.SamplingMask.TokenIDs)
		e.checked(s.field, x.SamplingMask.Offsets)
		e.b = appendInts(e.b, x.SamplingMask.CU)
	case fSpecDecodeMetrics:
		e.nest(opt[SpecDecodeMetrics, *SpecDecodeMetrics]{&x.SpecDecode})
	case fPromptTokenIDLogprobs:
		e.checked(s.field, x.PromptTokenIDLogprobs)
	case fError:
		e.nest(opt[RequestError, *RequestError]{&x.Error})
	case fNumCachedTokens:
		e.b = appendInt(e.b, x.cached())
	case fNumExternalComputedTokens:
		e.b = appendInt(e.b, x.external())
	default:
		e.b = append(e.b, s.zero)
	}
}

func (e *encoder) prefill(p *PrefillStats) {
	if p == nil {
		e.b = append(e.b, mNil)
	} else if e.err == nil {
		e.b, e.err = appendKeys(e.b, p, e.layout.prefill)
	}
}

// cached and external give the counters of the releases before PrefillStats.
func (x *Extra) cached() int {
	if x.NumCachedTokens == 0 && x.PrefillStats != nil {
		return x.PrefillStats.NumCachedTokens
	}
	return x.NumCachedTokens
}

func (x *Extra) external() int {
	if x.NumExternalComputedTokens == 0 && x.PrefillStats != nil {
		return x.PrefillStats.NumExternalCachedTokens
	}
	return x.NumExternalComputedTokens
}

func (e *encoder) nest(n nested) {
	if e.err == nil {
		e.b, e.err = n.appendTo(e.b)
	}
}

// checked appends a tensor that nobody has looked at yet.
func (e *encoder) checked(f field, t *Tensor) {
	if t != nil {
		if why := t.check(); why != "" && e.err == nil {
			e.err = &FieldError{Message: "outputs", Field: f.String(), Rule: why}
		}
	}
	if e.err == nil {
		e.tensor(t)
	}
}

func (e *encoder) stopReason(v any) {
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, mNil)
	case int64:
		e.b = appendInt(e.b, int(v))
	case int:
		e.b = appendInt(e.b, v)
	case uint32:
		e.b = appendUint(e.b, uint64(v))
	case string:
		if !utf8.ValidString(v) && e.err == nil {
			e.err = &FieldError{Message: "outputs", Field: "stop_reason", Rule: "is not valid UTF-8"}
		}
		e.b = appendString(e.b, v)
	default:
		if e.err == nil {
			e.err = &FieldError{Message: "outputs", Field: "stop_reason", Rule: fmt.Sprintf("must be an integer or a string, is %T", v)}
		}
	}
}
