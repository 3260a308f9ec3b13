// SPDX-License-Identifier: Apache-2.0

package codec

import "unicode/utf8"

// Most requests have a prompt, sampling parameters and nothing else. They skip the
// walk over all fields, which takes as long as 200 tokens.

// usual reports whether r has no field but those that encoder.usual writes.
func (r *Request) usual() bool {
	return r.Sampling != nil && r.Prompt != nil && r.MMFeatures == nil && r.Pooling == nil && r.LoRA == nil &&
		r.CacheSalt == "" && r.DataParallelRank == nil && r.PromptEmbeds == nil && r.PromptIsToken == nil &&
		r.TraceHeaders == nil && !r.Resumable && r.ExternalID == "" && r.ReasoningEnded == nil &&
		r.ReasoningParserKwargs == nil && !r.AbortImmediately && r.SessionID == "" && r.KVHints == nil
}

// certain reports whether r can be written in l as it is, without a further look:
// every layout with a usual form has a place for all that r has.
func (l *Layout) certain(r *Request) bool {
	return l.usual[0] != "" && r.usual() && !r.Sampling.rare() && utf8.ValidString(r.ID)
}

// usual appends a usual request; what it does not have stands in l.usual.
func (e *encoder) usual(l *Layout, r *Request) {
	e.b = appendString(appendArray(e.b, len(l.request)), r.ID)
	e.b = append(appendTokens(e.b, r.Prompt), l.usual[0]...)
	e.sampling(r.Sampling)
	b := append(e.b, l.usual[1]...)
	b = append(appendFloat(b, r.ArrivalTime), l.usual[2]...)
	b = appendInt(appendInt(appendInt(b, r.ClientIndex), r.CurrentWave), r.Priority)
	e.b = append(b, l.usual[3]...)
}
