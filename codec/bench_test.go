// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// rotated is how many different inputs a benchmark goes through: one repeated
// input teaches the branch predictor its token widths.
const rotated = 64

// tokens are of all widths, as those of real text are.
func tokens(r *rand.Rand, n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = r.Uint32N(1 << (3 + r.Uint32N(15)))
	}
	return out
}

func chat(r *rand.Rand, prompt int) *codec.Request {
	return &codec.Request{
		ID: fmt.Sprintf("chatcmpl-%016x-%08x", r.Uint64(), r.Uint32()), Prompt: tokens(r, prompt), ArrivalTime: 1733000000.25,
		Sampling: &codec.SamplingParams{
			Temperature: new(0.7), TopP: new(0.95), TopK: 40, MaxTokens: 512, Seed: new(int64(7)),
			StopTokenIDs: []uint32{128001, 128009}, EOSTokenID: new(uint32(128009)), AllStopTokenIDs: []uint32{128001, 128009},
		},
	}
}

func step(r *rand.Rand, rows int) *codec.Outputs {
	o := &codec.Outputs{Timestamp: 12345.5}
	for range rows {
		o.Rows = append(o.Rows, codec.Output{
			ID: fmt.Appendf(nil, "chatcmpl-%016x-%08x", r.Uint64(), r.Uint32()), Tokens: tokens(r, 1),
		})
	}
	return o
}

// BenchmarkEncodeRequest and BenchmarkDecodeOutputs have their rivals in the
// same run; see bench_rivals_test.go.
func BenchmarkEncodeRequest(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{128, 4096} {
		r := rand.New(rand.NewPCG(1, 2))
		in := make([]*codec.Request, rotated)
		wire := make([][]byte, rotated)
		for i := range in {
			in[i] = chat(r, n)
			wire[i], _, _ = l.AppendRequest(nil, nil, in[i])
		}
		b.Run(fmt.Sprintf("coder=codec/prompt=%d", n), func(b *testing.B) { encodeRequests(b, l, in) })
		b.Run(fmt.Sprintf("coder=shamaton/prompt=%d", n), func(b *testing.B) { shamatonEncodes(b, in) })
		for _, way := range []string{"encode", "encode_into"} {
			b.Run(fmt.Sprintf("coder=msgspec.%s/prompt=%d", way, n), func(b *testing.B) { msgspecTakes(b, "request", way, wire) })
		}
	}
}

func encodeRequests(b *testing.B, l *codec.Layout, in []*codec.Request) {
	b.ReportAllocs()
	buf := make([]byte, 0, 64<<10)
	for i := 0; b.Loop(); i++ {
		if _, _, err := l.AppendRequest(buf[:0], nil, in[i%rotated]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeOutputs(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{1, 256} {
		wire := steps(b, l, n)
		b.Run(fmt.Sprintf("coder=codec/rows=%d", n), func(b *testing.B) { decodeOutputs(b, l, wire) })
		b.Run(fmt.Sprintf("coder=shamaton/rows=%d", n), func(b *testing.B) { shamatonDecodes(b, wire) })
		b.Run(fmt.Sprintf("coder=shamaton.any/rows=%d", n), func(b *testing.B) { shamatonDecodesAny(b, wire) })
		b.Run(fmt.Sprintf("coder=msgspec.decode/rows=%d", n), func(b *testing.B) { msgspecTakes(b, "outputs", "decode", wire) })
	}
}

// steps are the payloads of different outputs of n rows.
func steps(b *testing.B, l *codec.Layout, n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	wire := make([][]byte, rotated)
	for i := range wire {
		p, _, err := l.AppendOutputs(nil, nil, step(r, n))
		check(b, err)
		wire[i] = p
	}
	return wire
}

func decodeOutputs(b *testing.B, l *codec.Layout, wire [][]byte) {
	b.ReportAllocs()
	frames := make([][]byte, 1)
	for i := 0; b.Loop(); i++ {
		frames[0] = wire[i%rotated]
		if _, err := l.DecodeOutputs(frames); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLayouts has the same message in two releases: a layout is a table
// either way, and none should cost more than its bytes.
func BenchmarkLayouts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	in := make([]*codec.Request, rotated)
	for i := range in {
		in[i] = chat(r, 128)
	}
	for _, release := range []string{"0.32.0", "0.20.0"} {
		l := layout(b, release)
		b.Run("message=request/layout="+release, func(b *testing.B) { encodeRequests(b, l, in) })
	}
	for _, release := range []string{"0.32.0", "0.20.0"} {
		l := layout(b, release)
		wire := steps(b, l, 256)
		b.Run("message=outputs/layout="+release, func(b *testing.B) { decodeOutputs(b, l, wire) })
	}
}

func BenchmarkEncodeOutputs(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{1, 256} {
		r := rand.New(rand.NewPCG(1, 2))
		in := make([]*codec.Outputs, rotated)
		for i := range in {
			in[i] = step(r, n)
		}
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 64<<10)
			for i := 0; b.Loop(); i++ {
				if _, _, err := l.AppendOutputs(buf[:0], nil, in[i%rotated]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeRequest(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{128, 4096} {
		r := rand.New(rand.NewPCG(1, 2))
		in := make([][][]byte, rotated)
		for i := range in {
			p, _, err := l.AppendRequest(nil, nil, chat(r, n))
			check(b, err)
			in[i] = [][]byte{p}
		}
		b.Run(fmt.Sprintf("prompt=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := l.DecodeRequest(in[i%rotated]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{128, 4096} {
		r := chat(rand.New(rand.NewPCG(1, 2)), n)
		b.Run(fmt.Sprintf("prompt=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	o, err := layout(b, codec.DefaultRelease).DecodeOutputs(named(b, "out_stats_full").frames())
	check(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := o.Load(); !ok {
			b.Fatal("no load")
		}
	}
}
