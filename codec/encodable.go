// SPDX-License-Identifier: Apache-2.0

package codec

import "unicode/utf8"

// encodable refuses what has no form on the wire, so that encoding itself has
// nothing left to check but values of any kind. msgspec takes UTF-8 only, and an
// engine drops its input thread on anything else.
func (r *Request) encodable() error {
	const bad = "is not valid UTF-8"
	switch {
	case !utf8.ValidString(r.ID):
		return r.refuse("request_id", bad)
	case !utf8.ValidString(r.CacheSalt):
		return r.refuse("cache_salt", bad)
	case !utf8.ValidString(r.ExternalID):
		return r.refuse("external_req_id", bad)
	case !utf8.ValidString(r.SessionID):
		return r.refuse("session_id", bad)
	}
	for k, v := range r.TraceHeaders {
		if !validText(k, v) {
			return r.refuse("trace_headers", bad)
		}
	}
	if l := r.LoRA; l != nil && !validText(l.Name, l.Path, l.BaseModel) {
		return r.refuse("lora_request", bad)
	}
	if h := r.KVHints; h != nil && !h.valid() {
		return r.refuse("kv_hints", bad)
	}
	if p := r.Pooling; p != nil {
		if !validText(p.Task) || p.LateInteraction != nil && !validText(p.LateInteraction.Mode, p.LateInteraction.QueryKey) {
			return r.refuse("pooling_params", bad)
		}
	}
	if t := r.PromptEmbeds; t != nil {
		if why := t.check(); why != "" {
			return r.refuse("prompt_embeds", why)
		}
	}
	if err := r.encodableFeatures(); err != nil {
		return err
	}
	return r.encodableSampling()
}

func (h *KVHints) valid() bool {
	for _, a := range h.Actions {
		if !validText(a.ID, a.Type, a.Version) {
			return false
		}
	}
	return validText(h.ProtocolVersion, h.MessageID)
}

func (r *Request) encodableSampling() error {
	const bad = "is not valid UTF-8"
	s := r.Sampling
	if s == nil {
		return nil
	}
	switch o := s.StructuredOutputs; {
	case !validText(s.Stop...):
		return r.refuse("stop", bad)
	case !validText(s.BadWords...):
		return r.refuse("bad_words", bad)
	case o == nil:
	case !validText(o.Regex, o.Grammar, o.WhitespacePattern, o.StructuralTag, o.Backend) || !validText(o.Choice...):
		return r.refuse("structured_outputs", bad)
	}
	if t := s.PromptLogprobTokenIDs; t != nil {
		if why := t.check(); why != "" {
			return r.refuse("prompt_logprob_token_ids", why)
		}
	}
	return nil
}

func (r *Request) encodableFeatures() error {
	for i := range r.MMFeatures {
		f := &r.MMFeatures[i]
		if !validText(f.Modality, f.Identifier, f.Hash) {
			return r.refuse("mm_features", "is not valid UTF-8")
		}
		if t := f.Position.IsEmbed; t != nil {
			if why := t.check(); why != "" {
				return r.refuse("mm_features.mm_position.is_embed", why)
			}
		}
		for k := range f.Data {
			if why := f.Data[k].check(); why != "" {
				return r.refuse("mm_features.data", why)
			}
		}
	}
	return nil
}

func (m *MMItem) check() string {
	switch m.Field.Kind {
	case "batched", "shared", "flat":
	default:
		return "unknown field kind " + printable(m.Field.Kind)
	}
	if !validText(m.Key) {
		return "key is not valid UTF-8"
	}
	return checkNested(m.Value, 0)
}
