// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
	"slices"
)

// logprobs reads a tuple of at least three arrays and looks at their shapes:
// readers walk the rows, and a row has at least the sampled token. Of a release
// that sends lists instead of arrays (nested) it makes the same tensors.
func (c *cursor) logprobs(known int, nested bool) *Logprobs {
	if c.null() {
		return nil
	}
	p := &Logprobs{}
	n := c.array()
	if n < 3 {
		c.fail("logprobs of three arrays expected")
	}
	at := c.at
	for i := range n {
		if i >= known {
			c.skip()
			continue
		}
		if nested {
			c.nestedLogprobs(p, i)
			continue
		}
		c.atOrSkip(i, &p.TokenIDs, &p.Logprobs, &p.Ranks, &p.CU, &p.CUTensor)
	}
	if c.ok() && !p.consistent() {
		c.at = at
		c.fail("logprobs have shapes that do not agree")
	}
	return p
}

func (p *Logprobs) consistent() bool {
	ids, probs, ranks := p.TokenIDs, p.Logprobs, p.Ranks
	if ids == nil || probs == nil || ranks == nil {
		return false
	}
	if len(ids.Shape) != 2 || len(probs.Shape) != 2 || len(ranks.Shape) != 1 {
		return false
	}
	rows, columns := ids.Shape[0], ids.Shape[1]
	return probs.Shape[0] == rows && probs.Shape[1] == columns && ranks.Shape[0] == rows && (rows == 0 || columns > 0)
}

// nestedLogprobs reads part i of the tuple of the releases before 0.11.1: lists
// of one list of integers a position, the same of floats, and a list of ranks.
// They become numpy tensors of int64, float64 and int64.
func (c *cursor) nestedLogprobs(p *Logprobs, i int) {
	switch i {
	case 0:
		p.TokenIDs = c.rectangle("int64", func() uint64 { return uint64(c.int64()) })
	case 1:
		p.Logprobs = c.rectangle("float64", func() uint64 { return math.Float64bits(c.float()) })
	case 2:
		p.Ranks = &Tensor{DType: "int64", NumPy: true, Shape: []int{c.array()}}
		for range p.Ranks.Shape[0] {
			p.Ranks.Data = binary.LittleEndian.AppendUint64(p.Ranks.Data, uint64(c.int64()))
		}
	}
}

// rectangle reads a list of lists of one length.
func (c *cursor) rectangle(dtype string, one func() uint64) *Tensor {
	t := &Tensor{DType: dtype, NumPy: true, Shape: []int{c.array(), 0}}
	for row := range t.Shape[0] {
		at := c.at
		n := c.array()
		if row > 0 && n != t.Shape[1] {
			c.at = at
			c.fail("lists of different lengths")
			return nil
		}
		t.Shape[1] = n
		for range n {
			t.Data = binary.LittleEndian.AppendUint64(t.Data, one())
		}
		if !c.ok() {
			return nil
		}
	}
	return t
}

// logprobs appends the tuple in the length of the release: three to five.
func (e *encoder) logprobs(f field, p *Logprobs, n int, nested bool) {
	if p == nil {
		e.b = append(e.b, mNil)
		return
	}
	if !p.consistent() && e.err == nil {
		e.err = &FieldError{Message: "outputs", Field: f.String(), Rule: "has shapes that do not agree"}
	}
	e.b = appendArray(e.b, n)
	if nested {
		e.nestedLogprobs(f, p)
		return
	}
	e.checked(f, p.TokenIDs)
	e.checked(f, p.Logprobs)
	e.checked(f, p.Ranks)
	if n > 3 {
		e.b = appendInts(e.b, p.CU)
	}
	if n > 4 {
		e.checked(f, p.CUTensor)
	}
}

// nestedLogprobs appends the three parts of a tuple as lists.
func (e *encoder) nestedLogprobs(f field, p *Logprobs) {
	if e.err != nil {
		return
	}
	for _, t := range [...]*Tensor{p.TokenIDs, p.Logprobs, p.Ranks} {
		if why := t.check(); why != "" {
			e.err = &FieldError{Message: "outputs", Field: f.String(), Rule: why}
			return
		}
	}
	ids, err := p.TokenIDs.Ints()
	probs, noFloats := p.Logprobs.Floats()
	ranks, noRanks := p.Ranks.Ints()
	if err != nil || noFloats != nil || noRanks != nil {
		e.err = &FieldError{Message: "outputs", Field: f.String(), Rule: "must have integers, floats and integers"}
		return
	}
	columns := p.TokenIDs.Shape[1]
	e.b = appendRows(e.b, ids, columns, appendInt64)
	e.b = appendRows(e.b, probs, columns, appendFloat)
	e.b = appendArray(e.b, len(ranks))
	for _, rank := range ranks {
		e.b = appendInt64(e.b, rank)
	}
}

// appendRows appends a list for each so many values.
func appendRows[T any](b []byte, all []T, columns int, one func([]byte, T) []byte) []byte {
	if columns == 0 {
		return appendArray(b, 0)
	}
	b = appendArray(b, len(all)/columns)
	for row := range slices.Chunk(all, columns) {
		b = appendList(b, row, one)
	}
	return b
}

func appendInt64(b []byte, v int64) []byte { return appendInt(b, int(v)) }
