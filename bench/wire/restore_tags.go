// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/base64"
	"encoding/hex"
	"math"
)

// tagged restores an object that stands for what JSON lacks.
func (r *restorer) tagged(v *value) (value, error) {
	first := &v.list[1]
	switch v.list[0].string() {
	case "bin", "str":
		data, err := r.hex(first)
		k := bin
		if v.list[0].string() == "str" {
			k = text
		}
		return value{kind: k, bytes: data}, err
	case "ext":
		return r.ext(v, first)
	case "float":
		return r.float(first)
	case "map":
		return r.pairs(first)
	}
	return r.tensor(v)
}

func (r *restorer) hex(v *value) ([]byte, error) {
	data, err := hex.DecodeString(v.string())
	if v.kind != text || err != nil {
		return nil, r.fail("hexadecimal digits expected, in a string")
	}
	return data, nil
}

func (r *restorer) ext(v, code *value) (value, error) {
	data := v.get("hex")
	n := int64(code.bits)
	if data == nil || code.kind != natural && code.kind != negative || n < math.MinInt8 || n > math.MaxInt8 {
		return value{}, r.fail(`an extension is {"ext": -128 to 127, "hex": "…"}`)
	}
	b, err := r.hex(data)
	return value{kind: extension, code: int8(n), bytes: b}, err
}

func (r *restorer) float(v *value) (value, error) {
	switch v.string() {
	case "nan":
		return floatOf(math.NaN()), nil
	case "inf":
		return floatOf(math.Inf(1)), nil
	case "-inf":
		return floatOf(math.Inf(-1)), nil
	}
	return value{}, r.fail(`a float in words is "nan", "inf" or "-inf"`)
}

func (r *restorer) pairs(v *value) (value, error) {
	out := value{kind: mapping}
	if v.kind != array {
		return out, r.fail(`a map is {"map": [[key, value], …]}`)
	}
	for i := range v.list {
		pair := &v.list[i]
		if pair.kind != array || len(pair.list) != 2 {
			return out, r.fail(`pair %d of a map is not [key, value]`, i)
		}
		key, err := r.into("{key}", nil, &pair.list[0])
		if err != nil {
			return out, err
		}
		x, err := r.into("."+label(&key), nil, &pair.list[1])
		if err != nil {
			return out, err
		}
		out.list = append(out.list, key, x)
	}
	return out, nil
}

// tensor restores [dtype, shape, data].
func (r *restorer) tensor(v *value) (value, error) {
	name, shape := v.get("dtype"), v.get("shape")
	d, known := dtypeOf(name.string())
	if !known || shape == nil || shape.kind != array {
		return value{}, r.fail("a tensor has a known dtype, a shape, and values or base64")
	}
	data, err := r.data(v, d)
	if err != nil {
		return value{}, err
	}
	if !fills(shape.list, d.size, len(data)) {
		return value{}, r.fail("%d bytes of %s do not fill the shape", len(data), d.name)
	}
	where, err := r.place(v, data)
	return arrayOf(*name, *shape, where), err
}

func (r *restorer) data(v *value, d dtype) ([]byte, error) {
	if coded := v.get("base64"); coded != nil {
		data, err := base64.StdEncoding.DecodeString(coded.string())
		if err != nil || coded.kind != text {
			return nil, r.fail("base64: not base64 in a string")
		}
		return data, nil
	}
	list := v.get("values")
	if list == nil || list.kind != array {
		return nil, r.fail("a tensor has values or base64")
	}
	values, err := r.into(".values", nil, list)
	if err != nil {
		return nil, err
	}
	data, why := pack(d, values.list)
	if why != "" {
		return nil, r.fail("%s", why)
	}
	return data, nil
}

// place puts a tensor's data where the object says, or where vLLM would.
func (r *restorer) place(v *value, data []byte) (value, error) {
	inline, frame := v.get("inline"), v.get("frame")
	switch {
	case inline.string() == "bin":
		return value{kind: bin, bytes: data}, nil
	case frame != nil:
		n := int(frame.bits)
		if frame.kind != natural || n < 1 || n > maxFrames {
			return value{}, r.fail("frame: must be 1 to %d", maxFrames)
		}
		return *frame, r.frame(n, data)
	case inline == nil && len(data) >= inlineBelow:
		n := r.last + 1
		return numberOf(n), r.frame(n, data)
	}
	return value{kind: extension, code: rawView, bytes: data}, nil
}

// maxFrames bounds the tensor frames of a message.
const maxFrames = 1 << 16

func (r *restorer) frame(n int, data []byte) error {
	if have, ok := r.frames[n]; ok && string(have) != string(data) {
		return r.fail("frame %d has other data already", n)
	}
	r.frames[n], r.last = data, max(r.last, n)
	return nil
}
