// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/bench/wire"
	"github.com/corepipe/corepipe/codec"
)

// drawMsgpack appends any value, in any width that msgpack has for it.
func drawMsgpack(t *rapid.T, b []byte, depth int) []byte {
	kinds := 9
	if depth > 0 {
		kinds = 12
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return append(b, rapid.SampledFrom([]byte{0xc0, 0xc2, 0xc3, 0x00, 0x7f, 0xe0, 0xff}).Draw(t, "byte"))
	case 1:
		lead := rapid.SampledFrom([]byte{0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xca, 0xcb}).Draw(t, "number")
		size := map[byte]int{0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8, 0xca: 4, 0xcb: 8}[lead]
		return append(append(b, lead), rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")...)
	case 2:
		f := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 5e-324, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "float")
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(f))
	case 3:
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bin")
		return append(binary.BigEndian.AppendUint16(append(b, 0xc5), uint16(len(data))), data...)
	case 4: // a string that may not be UTF-8
		data := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "str")
		return append(append(b, 0xd9, byte(len(data))), data...)
	case 5:
		data := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "ext")
		return append(append(b, 0xc7, byte(len(data)), rapid.Byte().Draw(t, "code")), data...)
	case 6:
		return drawTensor(t, b)
	case 7, 8:
		return drawKey(t, b)
	case 9:
		n := rapid.IntRange(0, 20).Draw(t, "n")
		b = append(b, 0xdc, 0, byte(n))
		for range n {
			b = drawMsgpack(t, b, depth-1)
		}
		return b
	}
	n := rapid.IntRange(0, 4).Draw(t, "n")
	b = append(b, 0x80|byte(n))
	for range n {
		b = drawMsgpack(t, drawKey(t, b), depth-1)
	}
	return b
}

// drawKey appends a string, often one that means something in documents.
func drawKey(t *rapid.T, b []byte) []byte {
	s := rapid.OneOf(rapid.SampledFrom([]string{"map", "bin", "ext", "str", "float", "dtype", "shape", "extra", "", "a", "1", "<\u009b\u202e>"}),
		rapid.String()).Draw(t, "key")
	if len(s) > 255 {
		s = ""
	}
	return append(append(b, 0xd9, byte(len(s))), s...)
}

// drawTensor appends one of at most 255 bytes, inline.
func drawTensor(t *rapid.T, b []byte) []byte {
	name := rapid.SampledFrom([]string{"float32", "<f2", "bfloat16", "int64", "|b1", "uint8", "<c8", "float8_e5m2", "float128"}).Draw(t, "dtype")
	n := 8 * rapid.IntRange(0, 31).Draw(t, "eights")
	size := map[string]int{"float32": 4, "<f2": 2, "bfloat16": 2, "int64": 8, "<c8": 8}[name]
	b = append(append(b, 0x93, 0xa0|byte(len(name))), name...)
	b = append(b, 0x92, 1, 0xcc, byte(n/max(size, 1)))
	b = append(b, 0xc7, byte(n), 3)
	return append(b, rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")...)
}

func TestAnyValueComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawMsgpack(t, nil, 3)
		m, err := wire.Decode([][]byte{b}, wire.Options{Kind: wire.Value})
		if err != nil {
			t.Fatal(err)
		}
		text := m.Append(nil, false)
		again, err := wire.Parse(text, wire.Options{})
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if d := cmp.Diff(string(text), string(again[0].Append(nil, false))); d != "" {
			t.Fatal(d)
		}
		want, err := codec.DecodeValue(b)
		if err != nil {
			return // it has what no peer reads, and is shown all the same
		}
		got, err := codec.DecodeValue(again[0].Frames()[0])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestEveryHalfIsShownAsItsNumberAndComesBack(t *testing.T) {
	for _, dtype := range []string{"float16", "bfloat16"} {
		for first := 0; first < 1<<16; first += 64 {
			tensor := codec.Tensor{DType: dtype, Shape: []int{64}}
			for i := range 64 {
				tensor.Data = binary.LittleEndian.AppendUint16(tensor.Data, uint16(first+i))
			}
			payload := append([]byte{0x93, 0xa0 | byte(len(dtype))}, dtype...)
			payload = append(append(payload, 0x91, 64, 0xc7, 128, 3), tensor.Data...)
			m, err := wire.Decode([][]byte{payload}, wire.Options{Kind: wire.Value})
			check(t, err)
			text := m.Append(nil, false)
			again, err := wire.Parse(text, wire.Options{})
			check(t, err)
			if got := again[0].Frames()[0]; !bytes.Equal(payload, got) {
				t.Fatalf("%s from %#x: encoded again: %x", dtype, first, got)
			}
			want, err := tensor.Floats()
			check(t, err)
			sameFloats(t, want, text)
		}
	}
}

// sameFloats skips tensors that are shown as bytes: those with several NaNs.
func sameFloats(t *testing.T, want []float64, text []byte) {
	t.Helper()
	var doc struct{ Message struct{ Values []any } }
	parse(t, text, &doc)
	if nans := strings.Contains(fmt.Sprint(want[:1], want[2:]), "NaN"); (doc.Message.Values == nil) != nans {
		t.Fatalf("want numbers unless there are several NaNs, got %s", text)
	}
	for i, v := range doc.Message.Values {
		x, ok := v.(interface{ Float64() (float64, error) })
		if !ok {
			continue // inf
		}
		// Few digits are shown, enough to tell the value from its neighbours.
		if f, err := x.Float64(); err != nil || float32(f) != float32(want[i]) {
			t.Fatalf("want %v, got %v in %s", want[i], f, text)
		}
	}
}

func TestHalvesAreRoundedToTheNearest(t *testing.T) {
	for number, want := range map[string]struct{ float16, bfloat16 string }{
		"0.1": {"662e", "cd3d"}, "1": {"003c", "803f"}, "-2": {"00c0", "00c0"}, "1e-8": {"0000", "2c32"}, "65519.9": {"ff7b", "8047"},
		"65520.0": {"007c", "8047"}, "1.00048828125": {"003c", "803f"}, "1.00146484375": {"023c", "803f"},
		"1.00390625": {"043c", "803f"}, "1.01171875": {"0c3c", "823f"}, "6.0e-8": {"0100", "8133"}, `{"float": "-inf"}`: {"00fc", "80ff"},
	} {
		for dtype, bits := range map[string]string{"float16": want.float16, "bfloat16": want.bfloat16} {
			all, err := wire.Parse([]byte(`{"kind": "value", "message": {"dtype": "`+dtype+`", "shape": [], "values": [`+number+`]}}`), wire.Options{})
			check(t, err)
			if got := hex.EncodeToString(all[0].Frames()[0]); !strings.HasSuffix(got, bits) {
				t.Errorf("%s as %s: want %s, got %s", number, dtype, bits, got)
			}
		}
	}
}
