// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// optional draws nil as often as a value.
func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if rapid.Bool().Draw(t, label+" set") {
		return new(g.Draw(t, label))
	}
	return nil
}

func drawTensor(t *rapid.T, numpy bool, shape ...int) *codec.Tensor {
	n := 4
	for _, d := range shape {
		n *= d
	}
	return &codec.Tensor{DType: "int32", Shape: shape, NumPy: numpy, Data: rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")}
}

func drawTokens(t *rapid.T, label string) []uint32 {
	return rapid.SliceOfN(rapid.Uint32Range(0, math.MaxInt32), 1, 40).Draw(t, label)
}

func drawSampling(t *rapid.T) *codec.SamplingParams {
	s := &codec.SamplingParams{
		Temperature: optional(t, rapid.Float64Range(0, 2).Filter(func(v float64) bool { return v != 1 }), "temperature"),
		TopP:        optional(t, rapid.Float64Range(0.01, 0.99), "top_p"),
		TopK:        rapid.IntRange(-1, 1<<40).Draw(t, "top_k"),
		Seed:        optional(t, rapid.Int64(), "seed"),
		MaxTokens:   rapid.IntRange(17, 1<<33).Draw(t, "max_tokens"),
		MinTokens:   rapid.IntRange(0, 17).Draw(t, "min_tokens"),
		Logprobs:    optional(t, rapid.IntRange(-1, 20), "logprobs"),
		OutputKind:  codec.OutputKind(rapid.IntRange(0, 2).Draw(t, "output_kind")),
		EOSTokenID:  optional(t, rapid.Uint32(), "eos"),
		IgnoreEOS:   rapid.Bool().Draw(t, "ignore_eos"),
	}
	if rapid.Bool().Draw(t, "lists") {
		s.StopTokenIDs, s.BadWordsTokenIDs = drawTokens(t, "stop ids"), [][]uint32{drawTokens(t, "bad ids"), {}}
		s.Stop = rapid.SliceOfN(rapid.StringN(1, 10, -1), 0, 3).Draw(t, "stop")
		s.LogitBias = rapid.MapOfN(rapid.Int(), rapid.Float64Range(-100, 100), 0, 5).Draw(t, "bias")
		s.ExtraArgs = map[string]any{"a": rapid.Int64().Draw(t, "extra"), "b": []any{nil, true, "x", 2.5}}
	}
	return s
}

func TestAnyValidRequestComesBack(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	rapid.Check(t, func(t *rapid.T) {
		r := &codec.Request{
			ID: rapid.StringN(1, 300, -1).Draw(t, "id"), Prompt: drawTokens(t, "prompt"),
			ArrivalTime: rapid.Float64Range(0, 1e10).Draw(t, "arrival"), Sampling: drawSampling(t),
			DataParallelRank: optional(t, rapid.IntRange(0, 1<<20), "rank"), CurrentWave: rapid.IntRange(0, 1<<40).Draw(t, "wave"),
			Priority: rapid.Int().Draw(t, "priority"), Resumable: rapid.Bool().Draw(t, "resumable"),
			ReasoningEnded: optional(t, rapid.Bool(), "reasoning"), SessionID: rapid.String().Draw(t, "session"),
		}
		if rapid.Bool().Draw(t, "embeds") {
			r.PromptEmbeds = drawTensor(t, false, len(r.Prompt), rapid.IntRange(1, 5).Draw(t, "hidden"))
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		prefix, other := []byte("before"), [][]byte{{1}}
		b, aux, err := l.AppendRequest(prefix, other, r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.DecodeRequest(append([][]byte{b[len(prefix):]}, aux[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again); d != "" {
			t.Fatal(d)
		}
	})
}

func TestAnyOutputsComeBackInEveryRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := codec.LayoutOf(rapid.SampledFrom(everyRelease).Draw(t, "release"))
		if err != nil {
			t.Fatal(err)
		}
		o := &codec.Outputs{Engine: rapid.IntRange(0, 1<<17).Draw(t, "engine"), Timestamp: rapid.Float64().Draw(t, "time")}
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			row := codec.Output{
				ID:     []byte(rapid.StringN(1, 80, -1).Draw(t, "id")),
				Tokens: rapid.SliceOfN(rapid.Uint32(), 0, 20).Draw(t, "tokens"),
				// Reasons that all releases know, and numbers that none does.
				Finish: codec.FinishReason(rapid.SampledFrom([]int{0, 1, 2, 3, 6, 200}).Draw(t, "finish")),
			}
			if rapid.IntRange(0, 5).Draw(t, "rare") == 0 {
				row.SetExtra(&codec.Extra{
					StopReason: rapid.SampledFrom([]any{nil, int64(-7), "end"}).Draw(t, "stop"),
					Pooling:    drawTensor(t, false, rapid.IntRange(0, 90).Draw(t, "n")),
				})
			}
			o.Rows = append(o.Rows, row)
		}
		b, aux, err := l.AppendOutputs(nil, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.DecodeOutputs(append([][]byte{b}, aux...))
		if err != nil {
			t.Fatal(err)
		}
		if again.Engine != o.Engine || again.Timestamp != o.Timestamp || len(again.Rows) != len(o.Rows) {
			t.Fatalf("want %+v, got %+v", o, again)
		}
		for i := range o.Rows {
			sameRow(t, &o.Rows[i], &again.Rows[i])
		}
	})
}

func sameRow(t *rapid.T, want, got *codec.Output) {
	if string(want.ID) != string(got.ID) || want.Finish != got.Finish || got.Err != nil || want.Plain() != got.Plain() {
		t.Fatalf("want %+v, got %+v", want, got)
	}
	if d := cmp.Diff(append([]uint32{}, want.Tokens...), append([]uint32{}, got.Tokens...)); d != "" {
		t.Fatal(d)
	}
	if cap(got.Tokens) != len(got.Tokens) {
		t.Fatal("a row's tokens can be appended to over its neighbour's")
	}
	x, err := want.Extra()
	if err != nil {
		t.Fatal(err)
	}
	y, err := got.Extra()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(x, y); d != "" {
		t.Fatal(d)
	}
}

func TestAnyCallIDComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := codec.CallID{N: rapid.Uint64().Draw(t, "n")}
		if rapid.Bool().Draw(t, "negative") {
			id = codec.CallID{N: rapid.Uint64Range(1, 1<<63).Draw(t, "n"), Negative: true}
		}
		b, err := codec.AppendUtility(nil, &codec.UtilityCall{CallID: id, Method: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if u, err := codec.DecodeUtility(b); err != nil || u.CallID != id {
			t.Fatalf("want %v, got %+v, %v", id, u, err)
		}
	})
}
