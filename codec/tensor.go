// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Tensor is an array of numbers, little endian in C order. On the wire it is
// [dtype, shape, data], data inline below 256 bytes and else the index of a
// frame of its own. vLLM: torch.Tensor, or numpy.ndarray with NumPy.
type Tensor struct {
	// DType is torch's name of the element type, "float32", also with NumPy.
	DType string
	// Shape is empty for a scalar.
	Shape []int
	// Data has product(Shape) elements. After decoding it aliases the frame
	// and must not be written; an encoded one is passed on by reference.
	Data []byte
	// NumPy writes DType as numpy does: "<f4" for float32.
	NumPy bool
}

// dtype is an element type: torch's name, numpy's (empty where numpy has none)
// and the bytes an element takes.
type dtype struct {
	torch, numpy string
	size         int
}

var dtypes = [...]dtype{
	{"float32", "<f4", 4}, {"float16", "<f2", 2}, {"bfloat16", "", 2}, {"float64", "<f8", 8},
	{"int64", "<i8", 8}, {"int32", "<i4", 4}, {"int16", "<i2", 2}, {"int8", "|i1", 1},
	{"uint8", "|u1", 1}, {"uint16", "<u2", 2}, {"uint32", "<u4", 4}, {"uint64", "<u8", 8},
	{"bool", "|b1", 1}, {"complex64", "<c8", 8}, {"complex128", "<c16", 16},
	{"float8_e4m3fn", "", 1}, {"float8_e5m2", "", 1}, {"float8_e4m3fnuz", "", 1},
	{"float8_e5m2fnuz", "", 1}, {"float8_e8m0fnu", "", 1},
}

func dtypeOf(torch string) (dtype, bool) {
	for _, d := range dtypes {
		if d.torch == torch {
			return d, true
		}
	}
	return dtype{}, false
}

// check gives the rule that the tensor breaks, empty when an engine can read it.
func (t *Tensor) check() string {
	d, ok := dtypeOf(t.DType)
	if !ok {
		return "unknown dtype " + printable(t.DType)
	}
	if t.NumPy && d.numpy == "" {
		return "numpy has no dtype " + t.DType
	}
	for _, n := range t.Shape {
		if n < 0 {
			return "negative dimension in shape"
		}
	}
	if !fills(t.Shape, d.size, len(t.Data)) {
		return fmt.Sprintf("%d bytes do not fill shape %v of %s", len(t.Data), t.Shape, t.DType)
	}
	return ""
}

// fills reports whether a shape takes exactly so many bytes, without overflow.
func fills(shape []int, size, bytes int) bool {
	if slices.Contains(shape, 0) {
		return bytes == 0
	}
	for _, n := range shape {
		if n > bytes/size {
			return false
		}
		size *= n
	}
	return size == bytes
}

// Ints converts a tensor of any integer type or bool. It copies.
func (t *Tensor) Ints() ([]int64, error) {
	d, ok := dtypeOf(t.DType)
	integer := strings.HasPrefix(t.DType, "int") || strings.HasPrefix(t.DType, "uint") || t.DType == "bool"
	if !ok || !integer {
		return nil, fmt.Errorf("codec: tensor of %s has no integers", printable(t.DType))
	}
	out := make([]int64, len(t.Data)/d.size)
	signed := t.DType[0] == 'i'
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

// Floats converts a tensor of float16, bfloat16, float32 or float64. It copies.
func (t *Tensor) Floats() ([]float64, error) {
	d, ok := dtypeOf(t.DType)
	var read func([]byte) float64
	switch t.DType {
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
	}
	if !ok || read == nil {
		return nil, fmt.Errorf("codec: tensor of %s has no floats", printable(t.DType))
	}
	out := make([]float64, len(t.Data)/d.size)
	for i := range out {
		out[i] = read(t.Data[i*d.size:])
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

// Float32Tensor makes a tensor of float32 with a copy of the values.
func Float32Tensor(shape []int, values []float32) *Tensor {
	t := &Tensor{DType: "float32", Shape: shape, Data: make([]byte, 0, 4*len(values))}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}

// Int64Tensor makes a tensor of int64 with a copy of the values.
func Int64Tensor(shape []int, values []int64) *Tensor {
	t := &Tensor{DType: "int64", Shape: shape, Data: make([]byte, 0, 8*len(values))}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint64(t.Data, uint64(v))
	}
	return t
}
