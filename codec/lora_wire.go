// SPDX-License-Identifier: Apache-2.0

package codec

// shortLoRA is the number of elements up to which all releases since 0.14.0
// agree; vLLM took one from the middle in 0.32.0.
const shortLoRA = 4

// appendLoRA appends the whole array, or its first four elements where they are
// the same in all releases and the rest has nothing to say.
func (l *Layout) appendLoRA(b []byte, r *LoRARequest) []byte {
	if r == nil {
		return append(b, mNil)
	}
	slots := l.lora
	if !r.InPlace && !r.Is3D && position(slots, fBaseModelName) == shortLoRA-1 {
		slots = slots[:shortLoRA]
	}
	b = appendArray(b, len(slots))
	for _, s := range slots {
		switch s.field {
		case fLoraName:
			b = appendString(b, r.Name)
		case fLoraIntID:
			b = appendInt(b, r.ID)
		case fLoraPath:
			b = appendString(b, r.Path)
		case fBaseModelName:
			b = appendText(b, r.BaseModel)
		case fLoadInplace:
			b = appendBool(b, r.InPlace)
		case fIs3dLoraWeight:
			b = appendBool(b, r.Is3D)
		default:
			b = append(b, s.zero)
		}
	}
	return b
}

func (c *cursor) lora(l *Layout) *LoRARequest {
	if c.null() {
		return nil
	}
	r := &LoRARequest{}
	n := c.array()
	if n < 2 {
		c.fail("adapter without name and id")
	}
	for i := range n {
		if i >= len(l.lora) {
			c.skip()
			continue
		}
		switch l.lora[i].field {
		case fLoraName:
			r.Name = c.string()
		case fLoraIntID:
			r.ID = c.int()
		case fLoraPath:
			r.Path = c.string()
		case fBaseModelName:
			r.BaseModel = c.optText()
		case fLoadInplace:
			r.InPlace = c.bool()
		case fIs3dLoraWeight:
			r.Is3D = c.bool()
		default:
			c.skip()
		}
	}
	return r
}

// LoRAValue gives an adapter as the argument of the utility "add_lora": an
// array in the order of the release.
func (l *Layout) LoRAValue(r LoRARequest) ([]any, error) {
	v, err := DecodeValue(l.appendLoRA(nil, &r))
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	return list, nil
}
