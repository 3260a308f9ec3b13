// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/hex"
	"fmt"
	"math"
	"unicode/utf8"
)

// tags are the first keys of objects that stand for what JSON lacks.
var tags = map[string]bool{"bin": true, "ext": true, "str": true, "float": true, "map": true, "dtype": true}

// shower turns a payload into a value that JSON can hold. See the package's
// documentation for the forms.
type shower struct {
	frames [][]byte
	shown  []bool // the frames that a tensor was shown with.
	brief  bool
}

func (s *shower) show(f *form, v *value) value {
	switch v.kind {
	case array:
		return s.array(f, v)
	case mapping:
		return s.mapping(f, v)
	case bin:
		return objectOf(textOf("bin"), textOf(hex.EncodeToString(v.bytes)))
	case extension:
		code := value{kind: natural, bits: uint64(v.code)}
		if v.code < 0 {
			code = value{kind: negative, bits: uint64(int64(v.code))}
		}
		return objectOf(textOf("ext"), code, textOf("hex"), textOf(hex.EncodeToString(v.bytes)))
	case text:
		if !utf8.Valid(v.bytes) {
			return objectOf(textOf("str"), textOf(hex.EncodeToString(v.bytes)))
		}
	case float:
		if word := unwritable(v.float()); word != "" {
			return objectOf(textOf("float"), textOf(word))
		}
	}
	return *v
}

// unwritable is what a float that JSON has no form for is called.
func unwritable(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return ""
}

func (s *shower) array(f *form, v *value) value {
	if f.names(v) {
		return s.object(f, v)
	}
	if d, data, ok := tensorOf(v, s.frames); ok {
		if x := &v.list[2]; x.kind == natural {
			s.shown[x.bits-1] = true
		}
		t := showTensor(v, d, data, s.brief)
		if list := t.get("values"); list != nil {
			*list = (&shower{}).show(nil, list)
		}
		return t
	}
	out := value{kind: array}
	for i := range v.list {
		if s.brief && i == briefElements && len(v.list) > briefElements+1 && v.list[i].scalar() {
			return arrayOf(append(out.list, textOf(fmt.Sprintf("… %d more", len(v.list)-i)))...)
		}
		inner, _ := f.step(v, i)
		out.list = append(out.list, s.show(inner, &v.list[i]))
	}
	return out
}

// briefElements is what is shown of a long list.
const briefElements = 16

// object shows a positional struct, as far as it goes.
func (s *shower) object(f *form, v *value) value {
	out := objectOf()
	for i := range min(len(v.list), len(f.fields)) {
		field, x := &f.fields[i], &v.list[i]
		if s.brief && f.layout != nil && i > 0 && x.isDefault(field.zero) {
			continue
		}
		out.list = append(out.list, textOf(field.name), s.show(field.form, x))
	}
	if len(v.list) > len(f.fields) {
		extra := value{kind: array}
		for i := range v.list[len(f.fields):] {
			extra.list = append(extra.list, s.show(nil, &v.list[len(f.fields)+i]))
		}
		out.list = append(out.list, textOf("extra"), extra)
	}
	return out
}

// isDefault reports whether v is a default of one byte.
func (v *value) isDefault(zero byte) bool {
	b := appendMsgpack(nil, &value{kind: v.kind, bits: v.bits, bytes: v.bytes, list: v.list[:min(len(v.list), 2)]})
	return len(b) == 1 && b[0] == zero
}

// mapping shows a map as an object where that cannot be taken for anything else.
func (s *shower) mapping(f *form, v *value) value {
	whole := len(v.list) - len(v.list)%2 // a payload that was cut may end in a key.
	if v.named() && (f == nil || f.fields == nil) {
		out := objectOf()
		for i := 0; i < whole; i += 2 {
			inner, _ := f.step(v, i+1)
			out.list = append(out.list, v.list[i], s.show(inner, &v.list[i+1]))
		}
		return out
	}
	pairs := value{kind: array}
	for i := 0; i < whole; i += 2 {
		pairs.list = append(pairs.list, arrayOf(s.show(nil, &v.list[i]), s.show(nil, &v.list[i+1])))
	}
	return objectOf(textOf("map"), pairs)
}
