// SPDX-License-Identifier: Apache-2.0

package codec

func (c *cursor) features() []MMFeature {
	if c.null() {
		return nil
	}
	n := c.array()
	out := make([]MMFeature, 0, min(n, c.left()/smallestFeature+1))
	for range n {
		var f MMFeature
		from := c.at
		c.record(&f)
		if c.atLeast(from, smallestFeature); !c.ok() {
			return nil
		}
		out = append(out, f)
	}
	return out
}

func (f *MMFeature) bindings() []binding {
	return []binding{
		{"data", mmItems{&f.Data}},
		{"modality", &f.Modality},
		{"identifier", &f.Identifier},
		{"mm_position", of[MMPosition, *MMPosition]{&f.Position}},
		{"mm_hash", (*nilable)(&f.Hash)},
	}
}

func (p *MMPosition) bindings() []binding {
	return []binding{{"offset", &p.Offset}, {"length", &p.Length}, {"is_embed", &p.IsEmbed}}
}

func (f *MMField) bindings() []binding {
	return []binding{
		{"keep_on_cpu", &f.KeepOnCPU},
		{"batch_size", &f.BatchSize},
		{"slices", mmSlices{f}},
		{"dim", &f.Dim},
	}
}

// mmItems keeps the order of a map, which decides that of the tensor frames.
type mmItems struct{ p *[]MMItem }

func (m mmItems) appendTo(b []byte) ([]byte, error) { return b, nil }

func (m mmItems) readFrom(c *cursor) {
	if c.null() {
		return
	}
	n := c.mapping()
	*m.p = make([]MMItem, 0, min(n, c.left()/smallestRecord+1))
	for range n {
		from := c.at
		item := MMItem{Key: c.string()}
		for range c.mapping() {
			switch string(c.key()) {
			case "data":
				item.Value = c.nestedTensors(0)
			case "field":
				c.mmField(&item.Field)
			default:
				c.skip()
			}
		}
		if c.atLeast(from, smallestRecord); !c.ok() {
			return
		}
		*m.p = append(*m.p, item)
	}
}

func (c *cursor) mmField(f *MMField) {
	if n := c.array(); n != 2 {
		c.fail("field of two elements expected")
		return
	}
	f.Kind = c.string()
	c.record(f)
}

// nestedTensors tells a tensor from a list by the string at its front.
func (c *cursor) nestedTensors(depth int) any {
	lead := c.peek()
	switch {
	case lead == mNil:
		c.at++
		return nil
	case lead == mF32 || lead == mF64:
		return c.float()
	case lead&0xf0 != 0x90 && lead != mArr16 && lead != mArr32:
		return c.int64()
	}
	n := c.array()
	if n == 3 && c.isText() {
		return c.tensorParts()
	}
	if depth == maxDepth {
		c.fail("nested too deep")
		return nil
	}
	out := make([]any, c.promise(n))
	for i := range out {
		c.owed--
		if out[i] = c.nestedTensors(depth + 1); !c.ok() {
			return nil
		}
	}
	return out
}

// mmSlices tells the two forms apart by what the first slice begins with.
type mmSlices struct{ f *MMField }

func (m mmSlices) appendTo(b []byte) ([]byte, error) { return b, nil }

func (m mmSlices) readFrom(c *cursor) {
	n := c.array()
	m.f.Slices = make([]Slice, 0, min(n, c.left()/4+1))
	for range n {
		size := c.array()
		lead := c.peek()
		if size > 0 && (lead&0xf0 == 0x90 || lead == mArr16 || lead == mArr32) {
			m.f.SliceGroups = append(m.f.SliceGroups, c.sliceGroup(size))
		} else {
			m.f.Slices = append(m.f.Slices, c.slice(size))
		}
		if !c.ok() {
			return
		}
	}
	if m.f.SliceGroups != nil {
		m.f.Slices = nil
	}
}

func (c *cursor) sliceGroup(n int) []Slice {
	out := make([]Slice, 0, min(n, c.left()/4+1))
	for range n {
		out = append(out, c.slice(c.array()))
		if !c.ok() {
			return nil
		}
	}
	return out
}

func (c *cursor) slice(n int) (s Slice) {
	if n != 3 {
		c.fail("slice of three elements expected")
		return s
	}
	for _, p := range []**int{&s.Start, &s.Stop, &s.Step} {
		c.bound(p)
	}
	return s
}
