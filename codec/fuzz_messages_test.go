// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// The messages that need no layout: each decoder's target, one line of its own
// in what the fuzzer prints.

// fuzz decodes, encodes and decodes again. Where encoding may refuse what was
// read, refused says so.
func fuzz[T any](f *testing.F, decode func([]byte) (T, error), encode func(T) ([]byte, error), refused func(T) bool) {
	f.Helper()
	f.Fuzz(func(t *testing.T, b []byte) {
		var v T
		var err error
		bounded(t, len(b), func() { v, err = decode(b) })
		if err != nil || refused != nil && refused(v) {
			return
		}
		out, err := encode(v)
		if err != nil {
			t.Fatalf("%T cannot be written again: %v", v, err)
		}
		again, err := decode(out)
		if err != nil {
			t.Fatalf("what was encoded is refused: %v", err)
		}
		sameAgain(t, v, again)
	})
}

func never[T any](encode func([]byte, T) []byte) func(T) ([]byte, error) {
	return func(v T) ([]byte, error) { return encode(nil, v), nil }
}

func onto[T any](encode func([]byte, T) ([]byte, error)) func(T) ([]byte, error) {
	return func(v T) ([]byte, error) { return encode(nil, v) }
}

func FuzzDecodeReady(f *testing.F) {
	seed(f, "ready")
	fuzz(f, codec.DecodeReady, onto(codec.AppendReady), func(r *codec.Ready) bool { return r == nil })
}

func FuzzDecodeHandshake(f *testing.F) {
	seed(f, "handshake")
	fuzz(f, codec.DecodeHandshake, onto(codec.AppendHandshake), nil)
}

func FuzzDecodeInit(f *testing.F) {
	seed(f, "handshake")
	fuzz(f, codec.DecodeInit, onto(codec.AppendInit), nil)
}

func FuzzDecodeUtility(f *testing.F) {
	seed(f, "request.utility")
	fuzz(f, codec.DecodeUtility, onto(codec.AppendUtility), func(u *codec.UtilityCall) bool { return u.Method == "" || u.ClientIndex < 0 })
}

func FuzzDecodeAbort(f *testing.F) {
	seed(f, "request.abort")
	fuzz(f, codec.DecodeAbort, func(ids []string) ([]byte, error) { return codec.AppendAbort(nil, ids...), nil }, nil)
}

func FuzzDecodeStartWave(f *testing.F) {
	seed(f, "request.start", "coordinator.")
	type start struct {
		Wave    int
		Exclude codec.Exclude
	}
	decode := func(b []byte) (s start, err error) {
		s.Wave, s.Exclude, err = codec.DecodeStartWave(b)
		return s, err
	}
	encode := func(s start) ([]byte, error) { return codec.AppendStartWave(nil, s.Wave, s.Exclude), nil }
	fuzz(f, decode, encode, nil)
}

func FuzzDecodeCounts(f *testing.F) {
	seed(f, "coordinator.")
	fuzz(f, codec.DecodeCounts, never(codec.AppendCounts), nil)
}

func FuzzDecodeCoordinatorCall(f *testing.F) {
	seed(f, "coordinator.")
	fuzz(f, codec.DecodeCoordinatorCall, never(codec.AppendCoordinatorCall), nil)
}

func FuzzValue(f *testing.F) {
	seed(f)
	fuzz(f, codec.DecodeValue, onto(codec.AppendValue), nil)
}
