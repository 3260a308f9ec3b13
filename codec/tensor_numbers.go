// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// The numbers of tensors, for whoever wants to read them. A DType may be given
// by either name here, torch's "float32" or numpy's "<f4"; decoded tensors have
// torch's.

func elementType(name string) (dtype, bool) {
	for _, d := range dtypes {
		if d.torch == name || d.numpy != "" && d.numpy == name {
			return d, true
		}
	}
	return dtype{}, false
}

// Ints converts a tensor of any integer type or bool. It copies.
func (t *Tensor) Ints() ([]int64, error) {
	d, ok := elementType(t.DType)
	integer := strings.HasPrefix(d.torch, "int") || strings.HasPrefix(d.torch, "uint") || d.torch == "bool"
	if !ok || !integer {
		return nil, fmt.Errorf("codec: tensor of %s has no integers", printable(t.DType))
	}
	out := make([]int64, len(t.Data)/d.size)
	signed := d.torch[0] == 'i'
	for i := range out {
		out[i] = element(t.Data[i*d.size:], d.size, signed)
	}
	return out, nil
}

func element(p []byte, size int, signed bool) int64 {
	var v uint64
	for i := range size {
		v |= uint64(p[i]) << (8 * i)
	}
	if shift := 64 - 8*size; signed {
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// Floats converts a tensor of float16, bfloat16, float32 or float64. It copies,
// and loses nothing.
func (t *Tensor) Floats() ([]float64, error) { return floats[float64](t) }

// Float32s is Floats in half the memory. Only of float64 it loses anything: what
// is too large becomes infinite.
func (t *Tensor) Float32s() ([]float32, error) { return floats[float32](t) }

func floats[T float32 | float64](t *Tensor) ([]T, error) {
	d, _ := elementType(t.DType)
	var read func([]byte) float64
	switch d.torch {
	case "float64":
		read = func(p []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(p)) }
	case "float32":
		read = func(p []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(p))) }
	case "bfloat16":
		read = func(p []byte) float64 {
			return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(p)) << 16))
		}
	case "float16":
		read = func(p []byte) float64 { return half(binary.LittleEndian.Uint16(p)) }
	default:
		return nil, fmt.Errorf("codec: tensor of %s has no floats", printable(t.DType))
	}
	out := make([]T, len(t.Data)/d.size)
	for i := range out {
		out[i] = T(read(t.Data[i*d.size:]))
	}
	return out, nil
}

func half(bits uint16) float64 {
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
