// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"math"
)

// The leading bytes of msgpack that both directions name.
const (
	mNil   = 0xc0
	mFalse = 0xc2
	mTrue  = 0xc3
	mBin8  = 0xc4
	mBin16 = 0xc5
	mBin32 = 0xc6
	mExt8  = 0xc7
	mExt32 = 0xc9
	mF32   = 0xca
	mF64   = 0xcb
	mU8    = 0xcc
	mU16   = 0xcd
	mU32   = 0xce
	mU64   = 0xcf
	mI8    = 0xd0
	mI16   = 0xd1
	mI32   = 0xd2
	mI64   = 0xd3
	mFix1  = 0xd4
	mFix16 = 0xd8
	mStr8  = 0xd9
	mStr16 = 0xda
	mStr32 = 0xdb
	mArr16 = 0xdc
	mArr32 = 0xdd
	mMap16 = 0xde
	mMap32 = 0xdf
)

// extRaw marks the bytes of a tensor. vLLM: CUSTOM_TYPE_RAW_VIEW.
const extRaw = 3

// All numbers take their smallest form, as msgspec writes them, so that our
// bytes can be compared with vLLM's.

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v < 0x80:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, mU8, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, mU16), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, mU32), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, mU64), v)
}

func appendInt(b []byte, v int) []byte {
	n := int64(v)
	switch {
	case n >= 0:
		return appendUint(b, uint64(n))
	case n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt8:
		return append(b, mI8, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, mI16), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, mI32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, mI64), uint64(n))
}

func appendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, mF64), math.Float64bits(v))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, mTrue)
	}
	return append(b, mFalse)
}

func appendString(b []byte, s string) []byte {
	return append(appendTextHeader(b, len(s)), s...)
}

func appendTextHeader(b []byte, n int) []byte {
	switch {
	case n < 32:
		return append(b, 0xa0|byte(n))
	case n <= math.MaxUint8:
		return append(b, mStr8, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, mStr16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, mStr32), uint32(n))
}

// appendText is appendString with "" as nil, for vLLM's "str | None".
func appendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, mNil)
	}
	return appendString(b, s)
}

func appendArray(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, mArr16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, mArr32), uint32(n))
}

func appendMap(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x80|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, mMap16), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, mMap32), uint32(n))
}

// appendExt appends p as the raw bytes of a tensor, in the form msgspec picks:
// the fixed ones for 1, 2, 4, 8 and 16 bytes.
func appendExt(b, p []byte) []byte {
	switch n := len(p); {
	case n == 1 || n == 2 || n == 4 || n == 8 || n == 16:
		fix := byte(mFix1)
		for n > 1 {
			n >>= 1
			fix++
		}
		b = append(b, fix, extRaw)
	case n <= math.MaxUint8:
		b = append(b, mExt8, byte(n), extRaw)
	case n <= math.MaxUint16:
		b = append(binary.BigEndian.AppendUint16(append(b, mExt8+1), uint16(n)), extRaw)
	default:
		b = append(binary.BigEndian.AppendUint32(append(b, mExt32), uint32(n)), extRaw)
	}
	return append(b, p...)
}

func appendOptInt[T ~int | ~int64](b []byte, v *T) []byte {
	if v == nil {
		return append(b, mNil)
	}
	return appendInt(b, int(*v))
}

func appendOptBool(b []byte, v *bool) []byte {
	if v == nil {
		return append(b, mNil)
	}
	return appendBool(b, *v)
}

func appendStrings(b []byte, v []string) []byte {
	if v == nil {
		return append(b, mNil)
	}
	b = appendArray(b, len(v))
	for _, s := range v {
		b = appendString(b, s)
	}
	return b
}

func appendInts(b []byte, v []int) []byte {
	if v == nil {
		return append(b, mNil)
	}
	b = appendArray(b, len(v))
	for _, n := range v {
		b = appendInt(b, n)
	}
	return b
}
