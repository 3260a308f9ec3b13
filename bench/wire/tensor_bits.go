// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// pack gives the bytes of a tensor's elements; why says what is wrong with one.
func pack(d dtype, list []value) (data []byte, why string) {
	for i := range list {
		bits, why := bitsOf(d, &list[i])
		if why != "" {
			return nil, fmt.Sprintf("values[%d]: %s", i, why)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], bits)
		data = append(data, word[:d.size]...)
	}
	return data, ""
}

// bitsOf gives an element's bits; why says what is wrong with it.
func bitsOf(d dtype, v *value) (bits uint64, why string) {
	switch d.class {
	case 0:
		return 0, "numbers cannot be given for " + d.name + ", give base64"
	case 'b':
		if v.kind != boolean || v.bits > 1 {
			return 0, "true or false expected"
		}
		return v.bits, ""
	case 'i', 'u':
		return integerBits(d, v)
	}
	f := v.float()
	switch v.kind {
	case natural:
		f = float64(v.bits)
	case negative:
		f = float64(int64(v.bits))
	case float:
	default:
		return 0, "number expected"
	}
	switch {
	case d.class == 'h':
		return uint64(toHalf(f)), ""
	case d.class == 't':
		return uint64(toBfloat(f)), ""
	case d.size == 4:
		return uint64(math.Float32bits(float32(f))), ""
	}
	return math.Float64bits(f), ""
}

func integerBits(d dtype, v *value) (bits uint64, why string) {
	if v.kind != natural && v.kind != negative {
		return 0, "integer expected"
	}
	width := 8 * d.size
	most := uint64(math.MaxUint64) >> (64 - width)
	if d.class == 'i' {
		most >>= 1
	}
	low := v.kind == negative && (d.class == 'u' || int64(v.bits) < -int64(most)-1)
	if low || v.kind == natural && v.bits > most {
		return 0, "does not fit " + d.name
	}
	return v.bits & (uint64(math.MaxUint64) >> (64 - width)), ""
}

func fromHalf(bits uint16) float64 {
	f := float64(bits & 0x3ff)
	switch exponent := int(bits >> 10 & 0x1f); exponent {
	case 0:
		f = math.Ldexp(f, -24)
	case 31:
		if f != 0 {
			return math.NaN()
		}
		f = math.Inf(1)
	default:
		f = math.Ldexp(1024+f, exponent-25)
	}
	if bits&0x8000 != 0 {
		return -f
	}
	return f
}

// toHalf rounds to the nearest, ties to even.
func toHalf(f float64) uint16 {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	switch f = math.Abs(f); {
	case math.IsNaN(f):
		return 0x7e00
	case f == 0:
		return sign
	case f >= 65520:
		return sign | 0x7c00
	}
	_, exponent := math.Frexp(f)
	exponent = max(exponent, -13) // from here down the steps stay the same
	n := uint16(math.RoundToEven(math.Ldexp(f, 11-exponent)))
	// A carry out of the fraction is the next exponent, as it must be.
	return sign | (uint16(exponent+13)<<10 + n)
}

// toBfloat rounds to the nearest, ties to even.
func toBfloat(f float64) uint16 {
	if math.IsNaN(f) {
		return 0x7fc0
	}
	bits := math.Float32bits(float32(f))
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
