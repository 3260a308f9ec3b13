// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"math"
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// request draws one that Validate accepts.
func (d *drawer) request() *codec.Request {
	r := &codec.Request{}
	d.fill(reflect.ValueOf(r).Elem())
	if rapid.IntRange(0, 3).Draw(d.t, "kind") == 0 {
		r.Pooling = d.pooling()
	} else {
		r.Sampling = d.sampling()
	}
	if d.has("EngineCoreRequest", "prompt_embeds") && rapid.Bool().Draw(d.t, "embeds") {
		r.PromptEmbeds = drawTensor(d.t, false, len(r.Prompt), rapid.IntRange(1, 12).Draw(d.t, "hidden"))
		d.mixed(r)
	}
	d.saw("Request", r)
	return r
}

// mixed draws which positions are tokens; none when there are embeddings alone.
func (d *drawer) mixed(r *codec.Request) {
	if d.has("EngineCoreRequest", "prompt_is_token_ids") && rapid.Bool().Draw(d.t, "mixed") {
		r.PromptIsToken = rapid.SliceOfN(rapid.Bool(), len(r.Prompt), len(r.Prompt)).Draw(d.t, "is token")
	} else if rapid.Bool().Draw(d.t, "embeddings alone") {
		r.Prompt = nil
	}
}

func (d *drawer) pooling() *codec.PoolingParams {
	p := &codec.PoolingParams{}
	d.fill(reflect.ValueOf(p).Elem())
	if d.has("PoolingParams", "use_activation") || d.has("PoolingParams", "normalize") {
		p.UseActivation = optional(d.t, rapid.Bool(), "activation")
	}
	if !d.has("SamplingParams", "flat_logprobs") && d.has("PoolingParams", "skip_reading_prefix_cache") {
		p.SkipReadingPrefixCache = new(rapid.Bool().Draw(d.t, "skip reading")) // 0.11.1 has no nil
	}
	d.saw("PoolingParams", p)
	return p
}

// since032 tells the releases in which two sampling parameters have the type
// that ours have.
func (d *drawer) since032() bool { return d.has("SamplingParams", "_watermarking_skipped") }

// watermarking of true is the default before 0.32.0, and so not sent.
func (d *drawer) watermarking() any {
	if b := optional(d.t, rapid.Bool(), "watermarking"); b != nil && (d.since032() || !*b) {
		return b
	}
	return nil
}

// promptLogprobTokenIDs are one row of 0.31.0, and an array of any rows since.
func (d *drawer) promptLogprobTokenIDs() any {
	n := rapid.IntRange(0, 40).Draw(d.t, "ids")
	switch {
	case rapid.Bool().Draw(d.t, "no ids"):
		return nil
	case d.since032():
		return drawTensor(d.t, true, rapid.IntRange(0, 3).Draw(d.t, "rows"), n)
	}
	row := codec.Int64Tensor([]int{1, n}, rapid.SliceOfN(rapid.Int64Range(0, 1<<31-1), n, n).Draw(d.t, "row"))
	row.NumPy = true
	return row
}

func (d *drawer) sampling() *codec.SamplingParams {
	s := &codec.SamplingParams{}
	d.fill(reflect.ValueOf(s).Elem())
	if len(s.Stop) == 0 && rapid.Bool().Draw(d.t, "no text") {
		s.Detokenize = new(false)
	}
	if d.has("EngineCoreRequest", "eos_token_id") {
		s.EOSTokenID = optional(d.t, rapid.Uint32Range(0, math.MaxInt32), "eos")
	}
	if d.has("SamplingParams", "structured_outputs") || d.has("SamplingParams", "guided_decoding") {
		s.StructuredOutputs = d.structured()
	}
	if d.has("SamplingParams", "repetition_detection") && rapid.Bool().Draw(d.t, "repetition") {
		s.RepetitionDetection = &codec.RepetitionDetection{MaxPatternSize: 9, MinPatternSize: rapid.IntRange(0, 9).Draw(d.t, "least"), MinCount: 2}
	}
	d.saw("SamplingParams", s)
	return s
}

// structured draws exactly one constraint.
func (d *drawer) structured() *codec.StructuredOutputs {
	o := &codec.StructuredOutputs{}
	d.fill(reflect.ValueOf(o).Elem())
	if d.has("GuidedDecodingParams", "backend") {
		o.Backend = rapid.StringN(0, 9, -1).Draw(d.t, "backend")
	}
	text := rapid.StringN(1, 20, -1).Draw(d.t, "constraint")
	constraints := []codec.StructuredOutputs{
		{JSON: text}, {JSON: map[string]any{text: drawAny(d.t, 1)}}, {Regex: text}, {Choice: []string{text}}, {Grammar: text},
		{JSONObject: new(rapid.Bool().Draw(d.t, "object"))}, {StructuralTag: text},
	}
	c := rapid.SampledFrom(append(make([]codec.StructuredOutputs, 3), constraints...)).Draw(d.t, "of")
	if reflect.ValueOf(c).IsZero() {
		return nil
	}
	o.JSON, o.Regex, o.Choice, o.Grammar, o.JSONObject, o.StructuralTag = c.JSON, c.Regex, c.Choice, c.Grammar, c.JSONObject, c.StructuralTag
	d.saw("StructuredOutputs", o)
	return o
}

// saw marks what was set by hand, not by fill.
func (d *drawer) saw(name string, ptr any) {
	v := reflect.ValueOf(ptr).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			d.drawn[name+"."+v.Type().Field(i).Name] = true
		}
	}
}

// items draws processor outputs of every kind, some nested.
func (d *drawer) items() any {
	if rapid.Bool().Draw(d.t, "cached") {
		return nil
	}
	keys := rapid.SliceOfNDistinct(rapid.StringN(1, 9, -1), 0, 3, rapid.ID).Draw(d.t, "keys")
	out := make([]codec.MMItem, len(keys))
	for i, k := range keys {
		out[i] = codec.MMItem{Key: k, Value: d.nested(2), Field: d.field()}
	}
	return out
}

func (d *drawer) nested(depth int) any {
	switch rapid.IntRange(0, 3+min(depth, 1)).Draw(d.t, "nested") {
	case 0:
		if depth == 2 { // None is for whole items.
			return nil
		}
		fallthrough
	case 1:
		return rapid.Int64().Draw(d.t, "number")
	case 2:
		return rapid.Float64().Draw(d.t, "number")
	case 3:
		return drawTensor(d.t, false, rapid.IntRange(0, 90).Draw(d.t, "size"))
	}
	list := make([]any, rapid.IntRange(0, 3).Draw(d.t, "length"))
	for i := range list {
		list[i] = d.nested(depth - 1)
	}
	return list
}

func (d *drawer) field() codec.MMField {
	f := codec.MMField{Kind: rapid.SampledFrom([]string{"batched", "shared", "flat"}).Draw(d.t, "kind"), KeepOnCPU: rapid.Bool().Draw(d.t, "cpu")}
	switch f.Kind {
	case "shared":
		f.BatchSize = rapid.IntRange(0, 9).Draw(d.t, "batch")
	case "flat":
		f.Dim = rapid.IntRange(0, 3).Draw(d.t, "dim")
		slice := codec.Slice{Start: optional(d.t, rapid.Int(), "start"), Stop: optional(d.t, rapid.Int(), "stop"), Step: optional(d.t, rapid.Int(), "step")}
		f.Slices = []codec.Slice{slice, {}}[rapid.IntRange(0, 1).Draw(d.t, "from"):]
		if rapid.Bool().Draw(d.t, "grouped") {
			f.Slices, f.SliceGroups = nil, [][]codec.Slice{f.Slices, {slice}}
		}
	}
	d.saw("MMField", &f)
	return f
}

func (d *drawer) mask() any {
	if rapid.Bool().Draw(d.t, "whole") {
		return nil
	}
	n := rapid.SampledFrom([]int{0, 1, 255, 256}).Draw(d.t, "length")
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i & 1)
	}
	return &codec.Tensor{DType: "bool", Shape: []int{n}, Data: data}
}

// logprobs draws arrays that agree, in as many elements as the release has.
func (d *drawer) logprobs(structure string, numpy bool) any {
	if rapid.Bool().Draw(d.t, structure) {
		return nil
	}
	rows, columns := rapid.IntRange(0, 4).Draw(d.t, "rows"), rapid.IntRange(1, 20).Draw(d.t, "columns")
	p := &codec.Logprobs{
		TokenIDs: drawTensor(d.t, numpy, rows, columns), Logprobs: drawTensor(d.t, numpy, rows, columns), Ranks: drawTensor(d.t, numpy, rows),
	}
	p.Logprobs.DType = "float32"
	if structure == "LogprobsLists" && !d.has(structure, "cu_num_generated_tokens") {
		// Lists of Python numbers, which have one type for each kind.
		p.TokenIDs, p.Ranks = codec.Int64Tensor([]int{rows, columns}, make([]int64, rows*columns)), codec.Int64Tensor([]int{rows}, make([]int64, rows))
		p.Logprobs = codec.Float32Tensor([]int{rows, columns}, make([]float32, rows*columns))
		p.TokenIDs.NumPy, p.Ranks.NumPy, p.Logprobs.NumPy = true, true, true
	}
	if d.has(structure, "cu_num_generated_tokens") && rapid.Bool().Draw(d.t, "cu") {
		p.CU = rapid.SliceOfN(rapid.IntRange(0, 1<<40), 0, 4).Draw(d.t, "cu")
	}
	if d.has(structure, "cu_num_generated_tokens_tensor") && rapid.Bool().Draw(d.t, "cu tensor") {
		p.CUTensor = drawTensor(d.t, numpy, 3)
	}
	d.saw("Logprobs", p)
	return p
}

// outputs draws a message of an engine.
func (d *drawer) outputs() *codec.Outputs {
	o := &codec.Outputs{}
	d.fill(reflect.ValueOf(o).Elem())
	if rapid.IntRange(0, 3).Draw(d.t, "utility") == 0 {
		o.Utility = d.utility() // an answer travels alone.
		return o
	}
	o.Rows = make([]codec.Output, rapid.IntRange(0, 5).Draw(d.t, "rows"))
	for i := range o.Rows {
		row := &o.Rows[i]
		row.ID = []byte(rapid.StringN(1, 80, -1).Draw(d.t, "id"))
		row.Tokens = rapid.SliceOfN(rapid.Uint32(), 0, 9).Draw(d.t, "tokens")
		row.Finish = codec.FinishReason(rapid.IntRange(0, len(d.wire["FinishReason"])).Draw(d.t, "finish"))
		if rapid.Bool().Draw(d.t, "rare") {
			x := &codec.Extra{}
			d.fill(reflect.ValueOf(x).Elem())
			row.SetExtra(x)
		}
	}
	if rapid.Bool().Draw(d.t, "stats") {
		s := &codec.SchedulerStats{}
		d.fill(reflect.ValueOf(s).Elem())
		o.SetStats(s)
	}
	return o
}

func (d *drawer) utility() *codec.UtilityOutput {
	u := &codec.UtilityOutput{CallID: codec.CallID{N: rapid.Uint64().Draw(d.t, "call")}}
	if rapid.Bool().Draw(d.t, "news") {
		u.CallID = rapid.SampledFrom([]codec.CallID{codec.ElasticCall(), codec.FaultCall()}).Draw(d.t, "call")
	}
	if rapid.Bool().Draw(d.t, "failed") {
		u.Failure = rapid.StringN(1, 40, -1).Draw(d.t, "failure")
	} else {
		u.SetResult(drawAny(d.t, 2))
	}
	return u
}

// neverDrawn are the fields of a type that no release's message had.
func (d *drawer) neverDrawn(types ...reflect.Type) (missing []string) {
	for _, t := range types {
		for f := range t.Fields() {
			if label := t.Name() + "." + f.Name; f.IsExported() && !d.drawn[label] {
				missing = append(missing, label)
			}
		}
	}
	slices.Sort(missing)
	return missing
}
