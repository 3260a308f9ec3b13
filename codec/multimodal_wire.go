// SPDX-License-Identifier: Apache-2.0

package codec

func (e *encoder) features(fs []MMFeature) {
	if fs == nil {
		e.b = append(e.b, mNil)
		return
	}
	e.b = appendArray(e.b, len(fs))
	for i := range fs {
		e.feature(&fs[i])
	}
}

func (e *encoder) feature(f *MMFeature) {
	e.b = appendString(appendMap(e.b, 5), "data")
	if f.Data == nil {
		e.b = append(e.b, mNil)
	} else {
		e.b = appendMap(e.b, len(f.Data))
		for i := range f.Data {
			e.item(&f.Data[i])
		}
	}
	e.b = appendString(appendString(e.b, "modality"), f.Modality)
	e.b = appendString(appendString(e.b, "identifier"), f.Identifier)
	e.b = appendMap(appendString(e.b, "mm_position"), 3)
	e.b = appendInt(appendString(e.b, "offset"), f.Position.Offset)
	e.b = appendInt(appendString(e.b, "length"), f.Position.Length)
	e.b = appendString(e.b, "is_embed")
	e.tensor(f.Position.IsEmbed)
	e.b = appendText(appendString(e.b, "mm_hash"), f.Hash)
}

func (e *encoder) item(m *MMItem) {
	e.b = appendMap(appendString(e.b, m.Key), 2)
	e.b = appendString(e.b, "data")
	e.nested(m.Value)
	e.b = appendString(append(appendString(e.b, "field"), 0x92), m.Field.Kind)
	f := &m.Field
	switch f.Kind {
	case "shared":
		e.b = appendMap(e.b, 2)
	case "flat":
		e.b = appendMap(e.b, 3)
	default:
		e.b = appendMap(e.b, 1)
	}
	e.b = appendBool(appendString(e.b, "keep_on_cpu"), f.KeepOnCPU)
	switch f.Kind {
	case "shared":
		e.b = appendInt(appendString(e.b, "batch_size"), f.BatchSize)
	case "flat":
		e.b = appendString(e.b, "slices")
		e.slices(f)
		e.b = appendInt(appendString(e.b, "dim"), f.Dim)
	}
}

// nested appends tensors, numbers and lists of them; checkNested has passed.
func (e *encoder) nested(v any) {
	switch v := v.(type) {
	case *Tensor:
		e.tensor(v)
	case []any:
		e.b = appendArray(e.b, len(v))
		for _, x := range v {
			e.nested(x)
		}
	case int64:
		e.b = appendInt(e.b, int(v))
	case int:
		e.b = appendInt(e.b, v)
	case float64:
		e.b = appendFloat(e.b, v)
	default:
		e.b = append(e.b, mNil)
	}
}

// checkNested gives the rule that a processor output breaks.
func checkNested(v any, depth int) string {
	switch v := v.(type) {
	case nil, int64, int, float64:
		return ""
	case *Tensor:
		if v == nil {
			return ""
		}
		return v.check()
	case []any:
		if depth == maxDepth {
			return "nested too deep"
		}
		for _, x := range v {
			if why := checkNested(x, depth+1); why != "" {
				return why
			}
		}
		return ""
	}
	return "must be nil, a *Tensor, an int64, a float64 or []any of these"
}

func (e *encoder) slices(f *MMField) {
	if f.SliceGroups == nil {
		e.sliceList(f.Slices)
		return
	}
	e.b = appendArray(e.b, len(f.SliceGroups))
	for _, g := range f.SliceGroups {
		e.sliceList(g)
	}
}

func (e *encoder) sliceList(ss []Slice) {
	e.b = appendArray(e.b, len(ss))
	for _, s := range ss {
		e.b = append(e.b, 0x93)
		e.b = appendOptInt(appendOptInt(appendOptInt(e.b, s.Start), s.Stop), s.Step)
	}
}
