// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

const (
	inlineBelow = 256 // bytes from which vLLM gives a tensor a frame of its own.
	fewValues   = 64  // elements up to which a tensor is shown as numbers.
	rawView     = 3   // the extension of tensors' bytes.
)

// dtype is an element type. Its elements are numbers that we can read if class
// is not 0: i, u, f, b (bool), h (half), t (bfloat16: the top of a float32).
type dtype struct {
	name  string
	size  int
	class byte
}

// dtypes has torch's names and numpy's.
var dtypes = []dtype{
	{"float32", 4, 'f'}, {"float64", 8, 'f'}, {"float16", 2, 'h'}, {"bfloat16", 2, 't'},
	{"int64", 8, 'i'}, {"int32", 4, 'i'}, {"int16", 2, 'i'}, {"int8", 1, 'i'}, {"uint8", 1, 'u'},
	{"uint16", 2, 'u'}, {"uint32", 4, 'u'}, {"uint64", 8, 'u'}, {"bool", 1, 'b'},
	{"complex64", 8, 0}, {"complex128", 16, 0}, {"float8_e4m3fn", 1, 0}, {"float8_e5m2", 1, 0},
	{"float8_e4m3fnuz", 1, 0}, {"float8_e5m2fnuz", 1, 0}, {"float8_e8m0fnu", 1, 0},
	{"<f4", 4, 'f'}, {"<f8", 8, 'f'}, {"<f2", 2, 'h'}, {"<i8", 8, 'i'}, {"<i4", 4, 'i'}, {"<i2", 2, 'i'},
	{"|i1", 1, 'i'}, {"|u1", 1, 'u'}, {"<u2", 2, 'u'}, {"<u4", 4, 'u'}, {"<u8", 8, 'u'}, {"|b1", 1, 'b'},
	{"<c8", 8, 0}, {"<c16", 16, 0},
}

func dtypeOf(name string) (dtype, bool) {
	i := slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == name })
	if i < 0 {
		return dtype{}, false
	}
	return dtypes[i], true
}

// tensorOf takes an array for a tensor if it is one in every respect: a known
// element type, a shape, and data that fills it, inline or in a frame.
func tensorOf(v *value, frames [][]byte) (d dtype, data []byte, ok bool) {
	if v.kind != array || len(v.list) != 3 || v.list[1].kind != array {
		return d, nil, false
	}
	if d, ok = dtypeOf(v.list[0].string()); !ok {
		return d, nil, false
	}
	switch x := &v.list[2]; {
	case x.kind == bin || x.kind == extension && x.code == rawView:
		data = x.bytes
	case x.kind == natural && x.bits >= 1 && x.bits <= uint64(len(frames)):
		data = frames[x.bits-1]
	default:
		return d, nil, false
	}
	return d, data, fills(v.list[1].list, d.size, len(data))
}

// fills reports whether a shape takes exactly so many bytes, without overflow.
func fills(shape []value, size, bytes int) bool {
	empty := false
	for i := range shape {
		if shape[i].kind != natural || shape[i].bits > math.MaxInt32 {
			return false
		}
		empty = empty || shape[i].bits == 0
	}
	if empty {
		return bytes == 0
	}
	for _, n := range shape {
		if n.bits > uint64(bytes/size) {
			return false
		}
		size *= int(n.bits)
	}
	return size == bytes
}

// showTensor gives a tensor as an object. frame is 0 for inline data.
func showTensor(v *value, d dtype, data []byte, brief bool) value {
	out := objectOf(textOf("dtype"), v.list[0], textOf("shape"), v.list[1])
	add := func(key string, x value) { out.list = append(out.list, textOf(key), x) }
	switch x := &v.list[2]; {
	case x.kind == natural:
		add("frame", *x)
	case x.kind == bin:
		add("inline", textOf("bin"))
	case len(data) >= inlineBelow:
		add("inline", value{kind: boolean, bits: 1})
	}
	if len(data)/d.size <= fewValues {
		if list, ok := numbers(d, data); ok {
			add("values", arrayOf(list...))
			return out
		}
	}
	if brief {
		add("bytes", numberOf(len(data)))
		return out
	}
	add("base64", textOf(base64.StdEncoding.EncodeToString(data)))
	return out
}

// numbers gives the elements, unless they would not come back bit by bit.
func numbers(d dtype, data []byte) ([]value, bool) {
	if d.class == 0 {
		return nil, false
	}
	list := make([]value, 0, len(data)/d.size)
	for p := range slices.Chunk(data, d.size) {
		v := element(d, little(p))
		if back, why := bitsOf(d, &v); why != "" || back != little(p) {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

func little(p []byte) uint64 {
	var word [8]byte
	copy(word[:], p)
	return binary.LittleEndian.Uint64(word[:])
}

func element(d dtype, bits uint64) value {
	switch d.class {
	case 'b':
		return value{kind: boolean, bits: bits}
	case 'u':
		return value{kind: natural, bits: bits}
	case 'i':
		shift := 64 - 8*d.size
		n := int64(bits<<shift) >> shift
		if n < 0 {
			return value{kind: negative, bits: uint64(n)}
		}
		return value{kind: natural, bits: uint64(n)}
	case 'h':
		return floatOf(fromHalf(uint16(bits)))
	case 't':
		return short(math.Float32frombits(uint32(bits) << 16))
	}
	if d.size == 8 {
		return value{kind: float, bits: bits}
	}
	return short(math.Float32frombits(uint32(bits)))
}

// short gives the 64-bit float with the fewest digits that is this 32-bit one.
func short(f float32) value {
	x, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		x = float64(f)
	}
	return floatOf(x)
}
