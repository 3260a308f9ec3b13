// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/binary"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// Builders of hand-made messages, so that what no encoder of ours writes can be
// read by our decoder.

// arr is an array of values that are already encoded.
func arr(values ...[]byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xdc}, uint16(len(values)))
	for _, v := range values {
		b = append(b, v...)
	}
	return b
}

func str(s string) []byte { return append([]byte{0xd9, byte(len(s))}, s...) }

func val(t testing.TB, v any) []byte {
	t.Helper()
	b, err := codec.AppendValue(nil, v)
	check(t, err)
	return b
}

// nils are n fields that are not there.
func nils(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = []byte{0xc0}
	}
	return out
}

// envelope is a message of rows from engine 0.
func envelope(rows ...[]byte) []byte {
	return arr([]byte{0}, arr(rows...), []byte{0xc0}, []byte{1}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0})
}

// row is an output of 0.32.0 with one token and one more field set.
func row(id string, at int, field []byte) []byte {
	fields := append([][]byte{str(id), {0x91, 42}}, nils(16)...)
	fields[13] = []byte{0}
	if at > 0 {
		fields[at] = field
	}
	return arr(fields...)
}

func decode(t testing.TB, payload []byte, aux ...[]byte) (*codec.Outputs, error) {
	t.Helper()
	return layout(t, codec.DefaultRelease).DecodeOutputs(append([][]byte{payload}, aux...))
}
