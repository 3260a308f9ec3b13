// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"math"
)

// appendMsgpack appends v in its shortest form; floats have 64 bits.
func appendMsgpack(b []byte, v *value) []byte {
	switch v.kind {
	case null:
		return append(b, 0xc0)
	case boolean:
		return append(b, 0xc2+byte(v.bits))
	case natural:
		return appendNatural(b, v.bits)
	case negative:
		return appendNegative(b, int64(v.bits))
	case float:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), v.bits)
	case text:
		return append(appendText(b, len(v.bytes)), v.bytes...)
	case bin:
		return append(appendLength(b, 0xc4, len(v.bytes)), v.bytes...)
	case extension:
		return append(append(appendExtension(b, len(v.bytes)), byte(v.code)), v.bytes...)
	case array:
		b = appendCount(b, 0x90, 0xdc, len(v.list))
	case mapping:
		b = appendCount(b, 0x80, 0xde, len(v.list)/2)
	}
	for i := range v.list {
		b = appendMsgpack(b, &v.list[i])
	}
	return b
}

func appendNatural(b []byte, n uint64) []byte {
	switch {
	case n < 0x80:
		return append(b, byte(n))
	case n <= math.MaxUint8:
		return append(b, 0xcc, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), n)
}

func appendNegative(b []byte, n int64) []byte {
	switch {
	case n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
}

func appendText(b []byte, n int) []byte {
	if n < 32 {
		return append(b, 0xa0|byte(n))
	}
	return appendLength(b, 0xd9, n)
}

// appendLength appends one of three leading bytes and a length of 1, 2 or 4.
func appendLength(b []byte, lead byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(b, lead, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, lead+1), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, lead+2), uint32(n))
}

func appendExtension(b []byte, n int) []byte {
	switch n {
	case 1:
		return append(b, 0xd4)
	case 2:
		return append(b, 0xd5)
	case 4:
		return append(b, 0xd6)
	case 8:
		return append(b, 0xd7)
	case 16:
		return append(b, 0xd8)
	}
	return appendLength(b, 0xc7, n)
}

func appendCount(b []byte, small, lead byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, small|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, lead), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, lead+1), uint32(n))
}
