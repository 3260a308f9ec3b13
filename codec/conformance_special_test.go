// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// specials draw the fields that a rule beyond the type holds for: those of
// Validate, and values that mean the default, which do not come back as sent.
var specials = map[string]func(d *drawer) any{
	"Request.ID":          func(d *drawer) any { return rapid.StringN(1, 300, -1).Draw(d.t, "id") },
	"Request.ArrivalTime": func(d *drawer) any { return rapid.Float64Range(0, 1e10).Draw(d.t, "arrival") },
	"Request.Prompt":      func(d *drawer) any { return drawTokens(d.t, "prompt") },
	// These depend on each other and are drawn by request.
	"Request.Sampling": nothing, "Request.Pooling": nothing, "Request.PromptEmbeds": nothing, "Request.PromptIsToken": nothing,
	"Request.ClientIndex":      natural,
	"Request.CurrentWave":      natural,
	"Request.DataParallelRank": func(d *drawer) any { return optional(d.t, rapid.IntRange(0, 1<<40), "rank") },

	"SamplingParams.N":                          either(0, rapid.IntRange(2, 16384)),
	"SamplingParams.PresencePenalty":            either(0, rapid.Float64Range(-2, 2)),
	"SamplingParams.FrequencyPenalty":           either(0, rapid.Float64Range(-2, 2)),
	"SamplingParams.RepetitionPenalty":          pointer(rapid.Float64Range(1.5, 9)),
	"SamplingParams.Temperature":                pointer(rapid.Float64Range(1.01, 2)),
	"SamplingParams.TopP":                       pointer(rapid.Float64Range(0.01, 0.99)),
	"SamplingParams.TopK":                       either(0, rapid.IntRange(-1, 1<<40)),
	"SamplingParams.MinP":                       either(0, rapid.Float64Range(0, 1)),
	"SamplingParams.Watermarking":               func(d *drawer) any { return d.watermarking() },
	"SamplingParams.PromptLogprobTokenIDs":      func(d *drawer) any { return d.promptLogprobTokenIDs() },
	"SamplingParams.Seed":                       pointer(rapid.Int64Min(0)),
	"SamplingParams.Stop":                       texts,
	"SamplingParams.BadWords":                   texts,
	"SamplingParams.MaxTokens":                  either(0, rapid.IntRange(17, 1<<40)),
	"SamplingParams.MinTokens":                  either(0, rapid.IntRange(0, 16)),
	"SamplingParams.Logprobs":                   pointer(rapid.IntRange(-1, 99)),
	"SamplingParams.PromptLogprobs":             pointer(rapid.IntRange(-1, 99)),
	"SamplingParams.PromptLogprobStart":         pointer(rapid.IntRange(0, 99)),
	"SamplingParams.StreamInterval":             pointer(rapid.IntRange(1, 99)),
	"SamplingParams.ThinkingTokenBudget":        pointer(rapid.IntRange(0, 1<<40)),
	"SamplingParams.Detokenize":                 nothing, // false forbids stop strings: drawn by sampling.
	"SamplingParams.SkipSpecialTokens":          pointer(rapid.Just(false)),
	"SamplingParams.SpacesBetweenSpecialTokens": pointer(rapid.Just(false)),
	"SamplingParams.OutputKind":                 func(d *drawer) any { return rapid.IntRange(0, 2).Draw(d.t, "output kind") },
	"SamplingParams.LogitBias":                  func(d *drawer) any { return drawBias(d.t) },
	"SamplingParams.AllStopTokenIDs":            func(d *drawer) any { return drawSet(d.t) },
	"SamplingParams.StructuredOutputs":          nothing,
	"SamplingParams.RepetitionDetection":        nothing,
	"SamplingParams.RoutedExpertsPromptStart":   func(d *drawer) any { return rapid.IntRange(0, 1).Draw(d.t, "start") },
	// Every list of it is a list, never nil.
	"SamplingParams.BadWordsTokenIDs": func(d *drawer) any {
		return [][]uint32{drawTokens(d.t, "bad"), {}}[rapid.IntRange(0, 1).Draw(d.t, "from"):]
	},

	"PoolingParams.UseActivation": nothing, // under another name in old releases.
	"PoolingParams.Task": func(d *drawer) any {
		return rapid.SampledFrom([]string{"", codec.TaskEmbed, codec.TaskClassify}).Draw(d.t, "task")
	},
	"PoolingParams.Dimensions":   pointer(rapid.IntRange(1, 1<<20)),
	"PoolingParams.LateChunking": pointer(rapid.Just(codec.LateChunking{ChunkSize: 512})),
	"LoRARequest.ID":             func(d *drawer) any { return rapid.IntRange(1, 1<<40).Draw(d.t, "lora") },
	"LoRARequest.Path":           func(d *drawer) any { return rapid.StringN(1, 40, -1).Draw(d.t, "path") },

	"MMFeature.Data":     func(d *drawer) any { return d.items() },
	"MMPosition.IsEmbed": func(d *drawer) any { return d.mask() },
	"KVAction.Payload":   func(d *drawer) any { return map[string]any{"k": drawAny(d.t, 1)} },

	"Outputs.Rows": nothing, "Outputs.Utility": nothing,
	"Outputs.Finished": func(d *drawer) any {
		ids := rapid.SliceOfNDistinct(rapid.StringN(0, 9, -1), 1, 4, rapid.ID).Draw(d.t, "finished")
		return ids[:len(ids)*rapid.IntRange(0, 1).Draw(d.t, "some")]
	},
	"Extra.StopReason": func(d *drawer) any {
		return rapid.SampledFrom([]any{nil, int64(-7), int64(math.MaxInt64), "end", ""}).Draw(d.t, "stop")
	},
	"Extra.Logprobs":       func(d *drawer) any { return d.logprobs("LogprobsLists", true) },
	"Extra.PromptLogprobs": func(d *drawer) any { return d.logprobs("LogprobsTensors", false) },
	"SamplingMask.TokenIDs": func(d *drawer) any {
		return drawTensor(d.t, true, rapid.IntRange(0, 90).Draw(d.t, "kept"))
	},
	"PrefixCacheStats.HitsBySource": func(d *drawer) any {
		return rapid.MapOfN(rapid.SampledFrom([]string{"device", "host", "p2p", "disk", "external_unspecified"}), rapid.Int(), 0, 3).Draw(d.t, "hits")
	},
	"Ready.MaxModelLen": natural,
}

func nothing(*drawer) any   { return nil }
func natural(d *drawer) any { return rapid.IntRange(0, 1<<40).Draw(d.t, "natural") }

func either[T any](usual T, g *rapid.Generator[T]) func(d *drawer) any {
	return func(d *drawer) any { return rapid.OneOf(rapid.Just(usual), g).Draw(d.t, "value") }
}

func pointer[T any](g *rapid.Generator[T]) func(d *drawer) any {
	return func(d *drawer) any {
		if p := optional(d.t, g, "value"); p != nil {
			return p
		}
		return nil
	}
}

func texts(d *drawer) any {
	if rapid.Bool().Draw(d.t, "texts") {
		return nil
	}
	return rapid.SliceOfN(rapid.StringN(1, 10, -1), 0, 3).Draw(d.t, "text")
}

func drawBias(t *rapid.T) map[int]float64 {
	if rapid.Bool().Draw(t, "no bias") {
		return nil
	}
	return rapid.MapOfN(rapid.IntRange(0, 1<<31-1), rapid.Float64Range(-100, 100), 0, 3).Draw(t, "bias")
}

// drawSet is sorted, as sets come back.
func drawSet(t *rapid.T) []uint32 {
	ids := rapid.SliceOfNDistinct(rapid.Uint32Range(0, math.MaxInt32), 0, 5, rapid.ID).Draw(t, "set")
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return ids
}
