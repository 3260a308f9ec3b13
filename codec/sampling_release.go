// SPDX-License-Identifier: Apache-2.0

package codec

// What the sampling parameters of some releases say in another way, or not.

// knows reports whether the release has a sampling parameter. Others are never
// sent to it; Holds has refused those that count.
func (e *encoder) knows(f field) bool { return e.layout.sampling.has(f) }

// watermarking is true by default in the releases that came with it, where nil
// has no form, and nil since 0.32.0, which means the same.
func (e *encoder) watermarking(v *bool) int {
	if v == nil || !e.knows(fWatermarking) || *v && e.layout.before(0, 32, 0) {
		return 0
	}
	return e.keyBoolPtr("watermarking", v)
}

// promptLogprobTokenIDs is an array of [rows, ids] since 0.32.0, and in 0.31.0
// one list of ids for all rows.
func (e *encoder) promptLogprobTokenIDs(t *Tensor) int {
	if t == nil || !e.knows(fPromptLogprobTokenIDs) {
		return 0
	}
	e.b = appendString(e.b, "prompt_logprob_token_ids")
	if !e.layout.before(0, 32, 0) {
		e.tensor(t)
		return 1
	}
	row, _ := sameRow(t) // Holds has seen to that.
	e.b = appendArray(e.b, len(row))
	for _, id := range row {
		e.b = appendInt(e.b, int(id))
	}
	return 1
}

// sameRow gives the ids of each row of t when all rows have the same and none is
// padding.
func sameRow(t *Tensor) ([]int64, bool) {
	ids, err := t.Ints()
	if err != nil || len(t.Shape) != 2 || t.Shape[0] == 0 {
		return nil, false
	}
	n := t.Shape[1]
	for i, id := range ids {
		if id < 0 || id != ids[i%n] {
			return nil, false
		}
	}
	return ids[:n], true
}

// promptLogprobTokenIDs reads either form; the list as the one row of an array.
func (c *cursor) promptLogprobTokenIDs(l *Layout) *Tensor {
	if !l.before(0, 32, 0) {
		return c.tensor()
	}
	ids := c.tokenList()
	if ids == nil {
		return nil
	}
	row := make([]int64, len(ids))
	for i, id := range ids {
		row[i] = int64(id)
	}
	t := Int64Tensor([]int{1, len(row)}, row)
	t.NumPy = true
	return t
}

// structured appends the constraint under the name of the release. vLLM:
// StructuredOutputsParams since 0.11.1, GuidedDecodingParams before.
func (e *encoder) structured(o *StructuredOutputs) int {
	if e.knows(fStructuredOutputs) {
		return e.keyRecord("structured_outputs", o)
	}
	return e.keyRecord("guided_decoding", (*guided)(o))
}

// guided is StructuredOutputs by its older name and keys. We leave out
// disable_fallback, which Go callers cannot set; its default is false.
type guided StructuredOutputs

func (g *guided) bindings() []binding {
	all := (*StructuredOutputs)(g).bindings()
	for i := range all {
		switch all[i].key {
		case "_backend":
			all[i].key = "backend"
		case "_backend_was_auto":
			all[i].key = "backend_was_auto"
		}
	}
	return all
}

// guided reads the older name into what the newer one has not filled: 0.11.1
// has both.
func (c *cursor) guided(s *SamplingParams) {
	if c.null() {
		return
	}
	var o StructuredOutputs
	if c.record((*guided)(&o)); s.StructuredOutputs == nil {
		s.StructuredOutputs = &o
	}
}
