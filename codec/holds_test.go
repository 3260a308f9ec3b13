// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

// late is a field that some releases lack: set on a request, it is refused
// before a release, or left out there in silence.
type late struct {
	field, since string
	silent       bool
	set          func(r *codec.Request)
}

func row2() *codec.Tensor {
	t := codec.Int64Tensor([]int{2, 2}, []int64{5, 6, 5, 6})
	t.NumPy = true
	return t
}

func rows2() *codec.Tensor {
	t := codec.Int64Tensor([]int{2, 2}, []int64{5, 6, 7, 8})
	t.NumPy = true
	return t
}

func adapter(change func(l *codec.LoRARequest)) func(*codec.Request) {
	return func(r *codec.Request) {
		r.LoRA = &codec.LoRARequest{Name: "a", ID: 1, Path: "/p"}
		change(r.LoRA)
	}
}

var lates = []late{
	{"mm_features", "0.10.2", false, func(r *codec.Request) { r.MMFeatures = []codec.MMFeature{{Modality: "image", Identifier: "i"}} }},
	{"trace_headers", "0.10.2", true, func(r *codec.Request) { r.TraceHeaders = map[string]string{"a": "b"} }},
	{"prompt_embeds", "0.11.1", false, func(r *codec.Request) { r.PromptEmbeds = codec.Float32Tensor([]int{3, 1}, []float32{1, 2, 3}) }},
	{"external_req_id", "0.14.0", true, func(r *codec.Request) { r.ExternalID = "e" }},
	{"resumable", "0.15.0", false, func(r *codec.Request) { r.Resumable = true }},
	{"reasoning_ended", "0.16.0", false, func(r *codec.Request) { r.ReasoningEnded = new(false) }},
	{"reasoning_parser_kwargs", "0.20.1", false, func(r *codec.Request) { r.ReasoningParserKwargs = map[string]any{"a": int64(1)} }},
	{"prompt_is_token_ids", "0.21.0", false, func(r *codec.Request) { r.PromptIsToken = []bool{true, true, true} }},
	{"abort_immediately", "0.21.0", false, func(r *codec.Request) { r.AbortImmediately = true }},
	{"session_id", "0.28.0", true, func(r *codec.Request) { r.SessionID = "s" }},
	{"kv_hints", "0.31.0", true, func(r *codec.Request) { r.KVHints = &codec.KVHints{MessageID: "m", Actions: []codec.KVAction{}} }},

	{"skip_reading_prefix_cache", "0.11.1", true, sampling(func(s *params) { s.SkipReadingPrefixCache = new(true) })},
	{"flat_logprobs", "0.12.0", true, sampling(func(s *params) { s.FlatLogprobs = true })},
	{"skip_clone", "0.14.0", true, sampling(func(s *params) { s.SkipClone = true })},
	{"repetition_detection", "0.17.0", false, repetition(20, 2, 3)},
	{"thinking_token_budget", "0.19.0", false, sampling(func(s *params) { s.ThinkingTokenBudget = new(9) })},
	{"thinking_token_budget without a limit", "0.19.0", true, sampling(func(s *params) { s.ThinkingTokenBudget = new(-1) })},
	{"logprob_token_ids", "0.20.0", false, sampling(func(s *params) { s.LogprobTokenIDs = []uint32{1} })},
	{"routed_experts_prompt_start", "0.22.0", false, sampling(func(s *params) { s.RoutedExpertsPromptStart = 1 })},
	{"stream_interval", "0.27.0", true, sampling(func(s *params) { s.StreamInterval = new(2) })},
	{"trace_decode_token_ids", "0.29.0", false, sampling(func(s *params) { s.TraceDecodeTokenIDs = []uint32{1} })},
	{"watermarking", "0.30.0", true, sampling(func(s *params) { s.Watermarking = new(false) })},
	{"prompt_logprob_token_ids", "0.32.0", false, sampling(func(s *params) { s.PromptLogprobTokenIDs = rows2() })},
	{"prompt_logprob_start", "0.31.0", false, sampling(func(s *params) { s.PromptLogprobStart = new(0) })},
	{"_watermarking_skipped", "0.32.0", true, sampling(func(s *params) { s.WatermarkingSkipped = true })},

	{"pooling_params.task", "0.10.0", false, pooling(codec.PoolingParams{Task: codec.TaskEmbed})},
	{"requires_token_ids", "0.10.0", true, pooling(codec.PoolingParams{RequiresTokenIDs: true})},
	{"pooling_params.use_activation", "0.10.1", false, pooling(codec.PoolingParams{UseActivation: new(false)})},
	{"pooling_params.step_tag_id", "0.10.1", false, pooling(codec.PoolingParams{StepTagID: new(4)})},
	{"pooling_params.returned_token_ids", "0.10.1", false, pooling(codec.PoolingParams{ReturnedTokenIDs: []uint32{1}})},
	{"pooling_params.extra_kwargs", "0.10.1", false, pooling(codec.PoolingParams{ExtraKwargs: map[string]any{"a": true}})},
	{"pooling skip_reading_prefix_cache", "0.11.1", true, pooling(codec.PoolingParams{SkipReadingPrefixCache: new(true)})},
	{"pooling_params.task", "0.11.1", false, pooling(codec.PoolingParams{Task: codec.TaskTokenEmbed})},
	{"pooling_params.task", "0.12.0", false, pooling(codec.PoolingParams{Task: codec.TaskPlugin})},
	{"pooling_params.late_interaction_params", "0.18.0", false, pooling(codec.PoolingParams{LateInteraction: &codec.LateInteraction{Mode: "score_doc"}})},
	{"pooling_params.task", "0.20.0", false, pooling(codec.PoolingParams{Task: codec.TaskEmbedAndTokenClassify})},
	{"pooling_params.late_chunking_params", "0.33.0", false, pooling(codec.PoolingParams{LateChunking: &codec.LateChunking{ChunkSize: 8}})},

	{"lora_request.load_inplace", "0.15.0", false, adapter(func(l *codec.LoRARequest) { l.InPlace = true })},
	{"lora_request.is_3d_lora_weight", "0.22.0", false, adapter(func(l *codec.LoRARequest) { l.Is3D = true })},

	// All releases have these, by whatever name.
	{"adapter", "0.9.2", false, adapter(func(l *codec.LoRARequest) { l.BaseModel = "b" })},
	{"structured_outputs", "0.9.2", false, structured(codec.StructuredOutputs{Regex: "a+", Backend: "xgrammar", BackendWasAuto: true, DisableAnyWhitespace: true})},
	{"_eos_token_id", "0.9.2", false, sampling(func(s *params) { s.EOSTokenID = new(uint32(2)) })},
	{"extra_args", "0.9.2", false, sampling(func(s *params) { s.ExtraArgs = map[string]any{"a": "b"} })},
	{"dimensions", "0.9.2", false, pooling(codec.PoolingParams{Dimensions: new(3)})},
	{"priority", "0.9.2", false, func(r *codec.Request) { r.Priority, r.ClientIndex, r.CurrentWave = -3, 2, 9 }},
}

// had reports whether a release is at or after the first that has a field.
func had(t testing.TB, release, since string) bool {
	return !layout(t, release).Older(layout(t, since))
}

func TestAFieldArrivesOrIsRefusedByNameInEveryRelease(t *testing.T) {
	for _, f := range lates {
		for _, release := range everyRelease {
			l := layout(t, release)
			r := valid()
			f.set(r)
			err := l.Holds(r)
			b, aux, encoded := l.AppendRequest(nil, nil, r)
			if !had(t, release, f.since) && !f.silent {
				var typed *codec.FieldError
				if !errors.Is(err, codec.ErrUnsupported) || !errors.As(err, &typed) || typed.Field != f.field || typed.ID != r.ID {
					t.Errorf("%s in %s: want a refusal, got %v", f.field, release, err)
				} else if !strings.Contains(err.Error(), "since "+f.since) {
					t.Errorf("%s in %s: the error does not say since %s: %v", f.field, release, f.since, err)
				}
				if !errors.Is(encoded, codec.ErrUnsupported) {
					t.Errorf("%s in %s: encoded nevertheless: %v", f.field, release, encoded)
				}
				continue
			}
			if err != nil || encoded != nil {
				t.Errorf("%s in %s: got %v and %v", f.field, release, err, encoded)
				continue
			}
			again, err := l.DecodeRequest(append([][]byte{b}, aux...))
			check(t, err)
			want := r
			if !had(t, release, f.since) {
				want = valid()
				if r.Pooling != nil {
					want.Sampling, want.Pooling = nil, &codec.PoolingParams{}
				}
			}
			sent(t, want, release)
			if d := cmp.Diff(want, again); d != "" {
				t.Errorf("%s in %s: %s", f.field, release, d)
			}
		}
	}
}

// sent makes r what it is to its reader: 0.11.1 and 0.11.2 have no nil for one field.
func sent(t *testing.T, r *codec.Request, release string) {
	p := r.Pooling
	if p != nil && p.SkipReadingPrefixCache == nil && had(t, release, "0.11.1") && !had(t, release, "0.12.0") {
		p.SkipReadingPrefixCache = new(p.Task == codec.TaskTokenEmbed || p.Task == codec.TaskTokenClassify)
	}
}

func TestUnknownKeysAreNeitherSentNorRead(t *testing.T) {
	r := valid()
	r.Sampling.StreamInterval, r.Sampling.EOSTokenID, r.Sampling.FlatLogprobs = new(4), new(uint32(2)), true
	b, _, err := layout(t, "0.9.2").AppendRequest(nil, nil, r)
	check(t, err)
	keys := untyped(t, b).([]any)[5].(map[string]any)
	if d := cmp.Diff(map[string]any{"max_tokens": int64(8)}, keys); d != "" {
		t.Errorf("sent to 0.9.2: %s", d)
	}
	// An engine of 0.28.0 would not look at a key of 0.29.0.
	r.Sampling.TraceDecodeTokenIDs = []uint32{1}
	b, _, err = layout(t, "0.29.0").AppendRequest(nil, nil, r)
	check(t, err)
	old, err := layout(t, "0.28.0").DecodeRequest([][]byte{b})
	check(t, err)
	if old.Sampling.TraceDecodeTokenIDs != nil || old.Sampling.StreamInterval == nil {
		t.Errorf("read by 0.28.0: %+v", old.Sampling)
	}
}

func TestHoldingAPlainRequestAllocatesNothing(t *testing.T) {
	r := valid()
	for _, release := range everyRelease {
		l := layout(t, release)
		if n := testing.AllocsPerRun(10, func() { check(t, l.Holds(r)) }); n > 0 {
			t.Errorf("%s: %v allocations", release, n)
		}
	}
}

func TestOneListOfIDsStandsForAllRowsIn0310(t *testing.T) {
	old, before := layout(t, "0.31.0"), layout(t, "0.30.0")
	r := valid()
	r.Sampling.PromptLogprobTokenIDs = row2()
	if err := before.Holds(r); !errors.Is(err, codec.ErrUnsupported) || !strings.Contains(err.Error(), "since 0.31.0") {
		t.Errorf("before: got %v", err)
	}
	b, _, err := old.AppendRequest(nil, nil, r)
	check(t, err)
	if d := cmp.Diff([]any{int64(5), int64(6)}, untyped(t, b).([]any)[3].(map[string]any)["prompt_logprob_token_ids"]); d != "" {
		t.Errorf("on the wire: %s", d)
	}
	again, err := old.DecodeRequest([][]byte{b})
	check(t, err)
	if got := again.Sampling.PromptLogprobTokenIDs; got == nil || cmp.Diff([]int{1, 2}, got.Shape) != "" || !got.NumPy {
		t.Errorf("read: got %+v", got)
	}
	padded := row2()
	for i := range padded.Data {
		padded.Data[i] = 0xff
	}
	r.Sampling.PromptLogprobTokenIDs = padded
	if err := old.Holds(r); !errors.Is(err, codec.ErrUnsupported) {
		t.Errorf("padding: got %v", err)
	}
}

func TestWatermarkingIsOnByDefaultInEveryRelease(t *testing.T) {
	r := valid()
	r.Sampling.Watermarking = new(true)
	for release, want := range map[string]any{"0.30.0": nil, "0.31.0": nil, "0.32.0": true} {
		b, _, err := layout(t, release).AppendRequest(nil, nil, r)
		check(t, err)
		if got := untyped(t, b).([]any)[3].(map[string]any)["watermarking"]; got != want {
			t.Errorf("%s: want %v, got %v", release, want, got)
		}
	}
	if err := layout(t, "0.29.0").Holds(r); !errors.Is(err, codec.ErrUnsupported) {
		t.Errorf("a watermark from 0.29.0: got %v", err)
	}
}
