// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
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
