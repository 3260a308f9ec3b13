// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/shamaton/msgpack/v2"

	"github.com/corepipe/corepipe/codec"
)

// msgspecTakes measures Python's msgspec, typed by the release's structs, over
// the same inputs. The clock is Python's own and what it says stands in for
// ns/op: no line between the processes is in it.
func msgspecTakes(b *testing.B, kind, way string, wire [][]byte) {
	p := startMsgspec(b)
	q := question{Op: "bench", Kind: kind, Release: codec.DefaultRelease, Way: way, Seconds: 0.3}
	for _, m := range wire {
		q.Messages = append(q.Messages, []string{hex.EncodeToString(m)})
	}
	ns := p.ask(b, q).NS
	for b.Loop() { // the time is taken.
	}
	b.ReportMetric(ns, "ns/op")
}

// The structs below are what shamaton's reflection takes for arrays. It has one
// mode for a whole call, so whatever is a map on the wire is one here too, and
// rare fields are any.

type shamatonRequest struct {
	RequestID        string
	PromptTokenIDs   []uint32
	MMFeatures       any
	SamplingParams   map[string]any
	PoolingParams    any
	ArrivalTime      float64
	LoRARequest      any
	CacheSalt        *string
	DataParallelRank *int
	PromptEmbeds     any
	PromptIsTokenIDs []bool
	ClientIndex      int
	CurrentWave      int
	Priority         int
	TraceHeaders     map[string]string
	Resumable        bool
	ExternalReqID    *string
	ReasoningEnded   *bool
	ReasoningKwargs  map[string]any
	AbortImmediately bool
	SessionID        *string
	KVHints          any
}

type shamatonOutputs struct {
	EngineIndex      int
	Outputs          []shamatonOutput
	SchedulerStats   any
	Timestamp        float64
	UtilityOutput    any
	FinishedRequests []string
	WaveComplete     *int
	StartWave        *int
	WeightVersion    *string
}

type shamatonOutput struct {
	RequestID                                                 string
	NewTokenIDs                                               []uint32
	NewLogprobs, NewPromptLogprobsTensors, PoolingOutput      any
	FinishReason                                              *int
	StopReason, Events                                        any
	KVTransferParams, ECTransferParams                        any
	TraceHeaders                                              any
	PrefillStats, RoutedExperts                               any
	NumNansInLogits                                           int
	MMCacheMissHashes                                         []string
	NewSamplingMask, SpecDecodeMetrics, PromptTokenIDLogprobs any
}

func shamatonRequestOf(r *codec.Request) shamatonRequest {
	s := r.Sampling
	return shamatonRequest{RequestID: r.ID, PromptTokenIDs: r.Prompt, ArrivalTime: r.ArrivalTime, SamplingParams: map[string]any{
		"temperature": *s.Temperature, "top_p": *s.TopP, "top_k": s.TopK, "max_tokens": s.MaxTokens, "seed": *s.Seed,
		"stop_token_ids": s.StopTokenIDs, "_eos_token_id": *s.EOSTokenID, "_all_stop_token_ids": s.AllStopTokenIDs,
	}}
}

func shamatonEncodes(b *testing.B, in []*codec.Request) {
	typed := make([]shamatonRequest, len(in))
	for i := range in {
		typed[i] = shamatonRequestOf(in[i])
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := msgpack.MarshalAsArray(&typed[i%rotated]); err != nil {
			b.Fatal(err)
		}
	}
}

func shamatonDecodes(b *testing.B, wire [][]byte) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var v shamatonOutputs
		if err := msgpack.UnmarshalAsArray(wire[i%rotated], &v); err != nil {
			b.Fatal(err)
		}
	}
}

func shamatonDecodesAny(b *testing.B, wire [][]byte) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var v any
		if err := msgpack.Unmarshal(wire[i%rotated], &v); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRivalsDoTheSameWork keeps the benchmarks honest: what shamaton writes is
// the request, and what it reads the rows.
func TestRivalsDoTheSameWork(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	r := chat(rand.New(rand.NewPCG(1, 2)), 128)
	typed := shamatonRequestOf(r)
	b, err := msgpack.MarshalAsArray(&typed)
	check(t, err)
	again, err := l.DecodeRequest([][]byte{b})
	check(t, err)
	sameAgain(t, r, again)
	payload, _, err := l.AppendOutputs(nil, nil, step(rand.New(rand.NewPCG(1, 2)), 256))
	check(t, err)
	var v shamatonOutputs
	check(t, msgpack.UnmarshalAsArray(payload, &v))
	o, err := l.DecodeOutputs([][]byte{payload})
	check(t, err)
	if len(v.Outputs) != len(o.Rows) {
		t.Fatalf("want %d rows, got %d", len(o.Rows), len(v.Outputs))
	}
	for i := range v.Outputs {
		sameAgain(t, [2]any{string(o.Rows[i].ID), o.Rows[i].Tokens}, [2]any{v.Outputs[i].RequestID, v.Outputs[i].NewTokenIDs})
	}
}
