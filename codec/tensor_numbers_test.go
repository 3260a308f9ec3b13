// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"math"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

func TestTensorsAsNumbers(t *testing.T) {
	for _, dtype := range []string{"int16", "<i2"} {
		ints, err := (&codec.Tensor{DType: dtype, Shape: []int{2}, Data: []byte{0xff, 0xff, 1, 2}}).Ints()
		if err != nil || !slices.Equal(ints, []int64{-1, 0x201}) {
			t.Errorf("%s: got %v, %v", dtype, ints, err)
		}
	}
	for _, dtype := range []string{"bool", "|b1", "int64", "float8_e5m2", "complex64", "", "float33"} {
		if _, err := (&codec.Tensor{DType: dtype}).Floats(); err == nil {
			t.Errorf("%q has floats", dtype)
		}
		if _, err := (&codec.Tensor{DType: dtype}).Float32s(); err == nil {
			t.Errorf("%q has floats", dtype)
		}
	}
	for _, dtype := range []string{"float32", "<f4", "", "complex128"} {
		if _, err := (&codec.Tensor{DType: dtype}).Ints(); err == nil {
			t.Errorf("%q has integers", dtype)
		}
	}
}

// le are the bytes of an element.
func le(size int, bits uint64) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(bits >> (8 * i))
	}
	return b
}

func TestFloatsOfEveryWidth(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		torch, numpy string
		size         int
		bits         uint64
		want         float64
	}{
		{"float16", "<f2", 2, 0x0000, 0},
		{"float16", "<f2", 2, 0x3c00, 1},
		{"float16", "<f2", 2, 0xc000, -2},
		{"float16", "<f2", 2, 0x3555, 0.333251953125},
		{"float16", "<f2", 2, 0x7bff, 65504},
		{"float16", "<f2", 2, 0x0400, math.Ldexp(1, -14)},    // the smallest normal,
		{"float16", "<f2", 2, 0x03ff, math.Ldexp(1023, -24)}, // the largest subnormal,
		{"float16", "<f2", 2, 0x0001, math.Ldexp(1, -24)},    // and the smallest.
		{"float16", "<f2", 2, 0x8001, -math.Ldexp(1, -24)},
		{"float16", "<f2", 2, 0x7c00, inf},
		{"float16", "<f2", 2, 0xfc00, -inf},
		{"float16", "<f2", 2, 0x7e00, math.NaN()},
		{"bfloat16", "", 2, 0x3f80, 1},
		{"bfloat16", "", 2, 0xbf80, -1},
		{"bfloat16", "", 2, 0x4049, 3.140625},
		{"bfloat16", "", 2, 0x7f7f, math.Ldexp(255, 120)},
		{"bfloat16", "", 2, 0x0001, math.Ldexp(1, -133)},
		{"bfloat16", "", 2, 0xff80, -inf},
		{"bfloat16", "", 2, 0x7fc0, math.NaN()},
		{"float32", "<f4", 4, 0x40200000, 2.5},
		{"float32", "<f4", 4, 0x00000001, math.SmallestNonzeroFloat32},
		{"float32", "<f4", 4, 0x7f7fffff, math.MaxFloat32},
		{"float32", "<f4", 4, 0x7f800000, inf},
		{"float32", "<f4", 4, 0x7fc00000, math.NaN()},
		{"float64", "<f8", 8, 0x4004000000000000, 2.5},
		{"float64", "<f8", 8, 0x7ff0000000000000, inf},
		{"float64", "<f8", 8, 0x7ff8000000000000, math.NaN()},
	} {
		for _, dtype := range []string{c.torch, c.numpy} {
			if dtype == "" {
				continue
			}
			tensor := &codec.Tensor{DType: dtype, Shape: []int{2}, Data: append(le(c.size, 0), le(c.size, c.bits)...)}
			wide, err := tensor.Floats()
			check(t, err)
			narrow, err := tensor.Float32s()
			check(t, err)
			same := func(got float64) bool { return got == c.want || math.IsNaN(got) && math.IsNaN(c.want) }
			if len(wide) != 2 || len(narrow) != 2 || wide[0] != 0 || !same(wide[1]) || !same(float64(narrow[1])) {
				t.Errorf("%s %#x: want %v, got %v and %v", dtype, c.bits, c.want, wide, narrow)
			}
			if math.Signbit(wide[1]) != math.Signbit(c.want) && c.want != 0 && !math.IsNaN(c.want) {
				t.Errorf("%s %#x: the sign is lost", dtype, c.bits)
			}
		}
	}
	large, err := (&codec.Tensor{DType: "float64", Shape: []int{1}, Data: le(8, math.Float64bits(1e300))}).Float32s()
	if err != nil || !math.IsInf(float64(large[0]), 1) {
		t.Errorf("1e300 as float32: got %v, %v", large, err)
	}
	// A name of numpy is for reading alone: the wire form follows NumPy.
	r := valid()
	r.PromptEmbeds = &codec.Tensor{DType: "<f4", Shape: []int{3, 1}, Data: make([]byte, 12)}
	if err := r.Validate(); err == nil {
		t.Error("a tensor is sent under numpy's name")
	}
}
