// SPDX-License-Identifier: Apache-2.0

//go:build zmq && cgo && linux

package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport/zmq"
)

// client connects to the real engines that shake hands at endpoint.
func client(t *testing.T, c pipeline.Config, endpoint string) *pipeline.Client {
	t.Helper()
	emptyTemp(t)
	net, err := zmq.New()
	if err != nil {
		t.Fatal(err)
	}
	c.Transport, c.Launch = net, &launch.Handshake{Endpoint: endpoint}
	got, err := pipeline.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(errors.Join(err, net.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(got.Close(context.Background()), net.Close()); err != nil {
			t.Error(err)
		}
	})
	return got
}

// prompt is a request that the tiny model answers with n tokens.
func prompt(id string, n int) *codec.Request {
	return &codec.Request{ID: id, Prompt: []uint32{5, 6, 7, 8}, Sampling: &codec.SamplingParams{MaxTokens: n, IgnoreEOS: true}}
}

// run submits r and reads its answer.
func run(ctx context.Context, c *pipeline.Client, r *codec.Request) (tokens []uint32, rank int, err error) {
	s, err := c.Submit(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	for {
		o, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return tokens, s.Rank(), nil
		}
		if err != nil {
			return tokens, s.Rank(), err
		}
		tokens = append(tokens, o.Tokens...)
	}
}

// fatal are the requests that were seen to end a vLLM engine's input thread, as
// far as they can be said with the types: one of each rule.
var fatal = map[string]func(r *codec.Request){
	"no id":                   func(r *codec.Request) { r.ID = "" },
	"an id that is no UTF-8":  func(r *codec.Request) { r.ID = "r\xff" },
	"a salt that is no UTF-8": func(r *codec.Request) { r.CacheSalt = "\xc3" },
	"an unknown data type": func(r *codec.Request) {
		r.PromptEmbeds = &codec.Tensor{DType: "float7", Shape: []int{4, 2}, Data: make([]byte, 32)}
	},
	"a tensor that is too short": func(r *codec.Request) {
		r.PromptEmbeds = &codec.Tensor{DType: "float32", Shape: []int{4, 2}, Data: make([]byte, 31)}
	},
	"a hot temperature":           func(r *codec.Request) { r.Sampling.Temperature = new(2.1) },
	"a negative temperature":      func(r *codec.Request) { r.Sampling.Temperature = new(-0.1) },
	"a temperature that is none":  func(r *codec.Request) { r.Sampling.Temperature = new(math.NaN()) },
	"top_p 0":                     func(r *codec.Request) { r.Sampling.TopP = new(0.0) },
	"min_p 2":                     func(r *codec.Request) { r.Sampling.MinP = 2 },
	"top_k -2":                    func(r *codec.Request) { r.Sampling.TopK = -2 },
	"presence 3":                  func(r *codec.Request) { r.Sampling.PresencePenalty = 3 },
	"frequency -3":                func(r *codec.Request) { r.Sampling.FrequencyPenalty = -3 },
	"repetition 0":                func(r *codec.Request) { r.Sampling.RepetitionPenalty = new(0.0) },
	"max_tokens below 0":          func(r *codec.Request) { r.Sampling.MaxTokens = -5 },
	"min_tokens above max_tokens": func(r *codec.Request) { r.Sampling.MaxTokens, r.Sampling.MinTokens = 16, 17 },
	"logprobs -2":                 func(r *codec.Request) { r.Sampling.Logprobs = new(-2) },
	"an empty stop string":        func(r *codec.Request) { r.Sampling.Stop = []string{""} },
	"stop without detokenize":     func(r *codec.Request) { r.Sampling.Stop, r.Sampling.Detokenize = []string{"x"}, new(false) },
	"an empty bad word":           func(r *codec.Request) { r.Sampling.BadWords = []string{""} },
	"a thinking budget of -5":     func(r *codec.Request) { r.Sampling.ThinkingTokenBudget = new(-5) },
	"n below 0":                   func(r *codec.Request) { r.Sampling.N = -1 },
	"a stream interval of 0":      func(r *codec.Request) { r.Sampling.StreamInterval = new(0) },
	"an output kind of 9":         func(r *codec.Request) { r.Sampling.OutputKind = 9 },
	"a repetition of one": func(r *codec.Request) {
		r.Sampling.RepetitionDetection = &codec.RepetitionDetection{MaxPatternSize: 4, MinPatternSize: 1, MinCount: 1}
	},
	"no constraint": func(r *codec.Request) { r.Sampling.StructuredOutputs = &codec.StructuredOutputs{} },
	"two constraints": func(r *codec.Request) {
		r.Sampling.StructuredOutputs = &codec.StructuredOutputs{Regex: "a", Grammar: "b"}
	},
	"a removed pooling task":        func(r *codec.Request) { r.Sampling, r.Pooling = nil, &codec.PoolingParams{Task: "score"} },
	"an adapter of id 0":            func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: "a", Path: "/p"} },
	"an adapter without a path":     func(r *codec.Request) { r.LoRA = &codec.LoRARequest{Name: "a", ID: 1} },
	"an arrival that is no number":  func(r *codec.Request) { r.ArrivalTime = math.NaN() },
	"a value without a form":        func(r *codec.Request) { r.Sampling.ExtraArgs = map[string]any{"f": func() {}} },
	"neither prompt nor embeddings": func(r *codec.Request) { r.Prompt = nil },
}

func TestARealEngineSurvivesWhatIsFatalToIt(t *testing.T) {
	e := newVLLM(t)
	e.start()
	c := client(t, pipeline.Config{}, e.endpoint)
	for name, spoil := range fatal {
		r := prompt("bad", 4)
		spoil(r)
		_, _, err := run(t.Context(), c, r)
		if f, ok := errors.AsType[*codec.FieldError](err); !ok || f.Field == "" || f.Rule == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := c.Call(t.Context(), "handle_fault_tolerance", []any{map[string]any{}}); !errors.Is(err, pipeline.ErrFatalCall) {
		t.Errorf("the fatal call: got %v", err)
	}
	if tokens, _, err := run(t.Context(), c, prompt("good", 4)); err != nil || len(tokens) != 4 {
		t.Fatalf("afterwards: got %v, %v", tokens, err)
	}
}

// COREPIPE_VLLM_OLD is a virtual environment with an older release than that of
// COREPIPE_VLLM, such as 0.20.2, whose ready message names no release.
func TestRealEnginesOfTwoReleasesSideBySide(t *testing.T) {
	engines := []*vllm{newVLLMIn(t, "COREPIPE_VLLM_OLD"), newVLLM(t)}
	for rank, e := range engines {
		e.endpoint, e.port = engines[0].endpoint, engines[0].port
		e.start("--data-parallel-size", "2", "--data-parallel-size-local", "1", "--data-parallel-start-rank", fmt.Sprint(rank))
	}
	// vLLM's own two layouts from 0.20.1 on are told apart by Config.Release alone.
	c := client(t, pipeline.Config{Engines: 2, Policy: &policy.RoundRobin{}, Release: engines[0].release}, engines[0].endpoint)
	for rank, e := range engines {
		if got := c.Engines()[rank].Release; got != e.release && got != e.release+"+cpu" {
			t.Errorf("engine %d is %q, want %q", rank, got, e.release)
		}
	}
	var answers [2][]uint32
	for i := range 100 {
		r := prompt(fmt.Sprint("r", i), 16)
		r.Sampling.Temperature = new(0.0)
		tokens, rank, err := run(t.Context(), c, r)
		if err != nil || len(tokens) != 16 || rank != i%2 {
			t.Fatalf("request %d: %d tokens from engine %d, %v", i, len(tokens), rank, err)
		}
		if answers[rank] == nil {
			answers[rank] = tokens
		}
		if !slices.Equal(answers[rank], tokens) {
			t.Errorf("request %d: greedy, and engine %d says %v after %v", i, rank, tokens, answers[rank])
		}
	}
	if n := c.Counters(); n.Reencoded == 0 || n.Malformed+n.BadRows > 0 {
		t.Errorf("counters are %+v", n)
	}
	budget := prompt("new", 4)
	budget.AbortImmediately = true // since 0.21.0
	budget.DataParallelRank = new(0)
	if _, _, err := run(t.Context(), c, budget); !errors.Is(err, codec.ErrUnsupported) {
		t.Errorf("what the old one lacks: got %v", err)
	}
}
