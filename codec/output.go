// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"reflect"
	"slices"
)

// Output is what one step gives one request. vLLM: EngineCoreOutput. It is
// copied into streams and kept at 80 bytes.
type Output struct {
	// ID aliases the frame; do not write to it. vLLM: request_id.
	ID []byte
	// Tokens shares one array with the other rows of the message; its capacity
	// ends with it. vLLM: new_token_ids.
	Tokens []uint32
	// Err is a *DecodeError when this row alone could not be read. ID is set
	// where it could be.
	Err   error
	extra *rare
	// Finish is FinishNone until the last output of a request. vLLM:
	// finish_reason.
	Finish FinishReason
}

// rare is what a row has besides its tokens: as it came, or typed.
type rare struct {
	layout *Layout
	b      []byte // the payload up to the end of the row.
	at     int    // where the row goes on after its tokens.
	n      int    // fields from there.
	row    int
	aux    [][]byte
	typed  *Extra
}

// Plain reports whether there is nothing but tokens and a finish reason, so
// that an output can be merged with its neighbour.
func (o *Output) Plain() bool { return o.Err == nil && o.extra == nil }

// Extra decodes the rare fields, each time anew: a few allocations where there
// are any. Tensors alias their frames. The error is a *DecodeError.
func (o *Output) Extra() (Extra, error) {
	switch {
	case o.extra == nil:
		return Extra{}, nil
	case o.extra.typed != nil:
		return *o.extra.typed, nil
	}
	return o.extra.decode()
}

// Detach makes o independent of its message, of which it would otherwise keep all
// frames alive: what it has is copied, but for tensors in frames of their own,
// which are its alone. It is for an output that waits to be read.
func (o *Output) Detach() {
	o.ID, o.Tokens = slices.Clone(o.ID), slices.Clone(o.Tokens)
	if o.extra == nil || o.extra.typed != nil {
		return
	}
	r := *o.extra
	r.b, r.at = slices.Clone(r.b[r.at:]), 0
	if len(r.aux) == 0 {
		r.aux = nil // an empty slice holds on to what it was cut from
	} else if x, err := r.decode(); err == nil {
		r = rare{typed: &x}
	}
	o.extra = &r
}

// SetExtra sets the rare fields to be encoded; nil or nothing set makes the
// output plain. The memory of x is kept.
func (o *Output) SetExtra(x *Extra) {
	if x == nil || reflect.ValueOf(x).Elem().IsZero() {
		o.extra = nil
		return
	}
	o.extra = &rare{typed: x}
}

// Extra are the rare fields of an Output.
type Extra struct {
	StopReason            any       // nil, int64 (token id) or string. vLLM: stop_reason.
	Logprobs              *Logprobs // of the new tokens. vLLM: new_logprobs.
	PromptLogprobs        *Logprobs // vLLM: new_prompt_logprobs_tensors.
	Pooling               *Tensor   // vLLM: pooling_output.
	Events                []Event
	KVTransferParams      map[string]any
	ECTransferParams      map[string]any
	TraceHeaders          map[string]string
	PrefillStats          *PrefillStats
	RoutedExperts         *Tensor // numpy, shape [tokens, layers, top k].
	NumNaNs               int     // vLLM: num_nans_in_logits.
	MMCacheMissHashes     []string
	SamplingMask          *SamplingMask // vLLM: new_sampling_mask.
	SpecDecode            *SpecDecodeMetrics
	PromptTokenIDLogprobs *Tensor       // shape [rows, ids].
	Error                 *RequestError // since 0.33.0.
	// NumCachedTokens and NumExternalComputedTokens were sent before 0.20.0,
	// where PrefillStats took their place.
	NumCachedTokens, NumExternalComputedTokens int
}
