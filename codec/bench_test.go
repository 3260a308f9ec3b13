// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shamaton/msgpack/v2"

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

func BenchmarkEncodeRequest(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{128, 4096} {
		r := rand.New(rand.NewPCG(1, 2))
		in := make([]*codec.Request, rotated)
		loose := make([][]any, rotated)
		for i := range in {
			in[i] = chat(r, n)
			loose[i] = looseRequest(in[i])
		}
		b.Run(fmt.Sprintf("coder=codec/prompt=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 64<<10)
			for i := 0; b.Loop(); i++ {
				if _, _, err := l.AppendRequest(buf[:0], nil, in[i%rotated]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("coder=shamaton/prompt=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := msgpack.Marshal(loose[i%rotated]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// looseRequest is what one hands a reflecting encoder for the same bytes.
func looseRequest(r *codec.Request) []any {
	s := r.Sampling
	params := map[string]any{
		"temperature": *s.Temperature, "top_p": *s.TopP, "top_k": s.TopK, "max_tokens": s.MaxTokens, "seed": *s.Seed,
		"stop_token_ids": s.StopTokenIDs, "_eos_token_id": *s.EOSTokenID, "_all_stop_token_ids": s.AllStopTokenIDs,
	}
	return []any{
		r.ID, r.Prompt, nil, params, nil, r.ArrivalTime, nil, nil, nil, nil, nil, 0, 0, 0, nil, false, nil, nil, nil, false, nil, nil,
	}
}

func BenchmarkDecodeOutputs(b *testing.B) {
	l := layout(b, codec.DefaultRelease)
	for _, n := range []int{1, 256} {
		r := rand.New(rand.NewPCG(1, 2))
		in := make([][][]byte, rotated)
		for i := range in {
			p, _, err := l.AppendOutputs(nil, nil, step(r, n))
			check(b, err)
			in[i] = [][]byte{p}
		}
		b.Run(fmt.Sprintf("coder=codec/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := l.DecodeOutputs(in[i%rotated]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("coder=shamaton/rows=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var v any
				if err := msgpack.Unmarshal(in[i%rotated][0], &v); err != nil {
					b.Fatal(err)
				}
			}
		})
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
