// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"
)

// maxID bounds request ids: the id comes back with every output.
const maxID = 64 << 10

// Validate refuses, with a *FieldError, what an engine would answer with an
// error or not survive: a message that its input thread cannot decode ends that
// thread without a word, and with it the engine's use to everybody. What only
// the engine can know, such as the vocabulary's size or the model's length, is
// not looked at. It walks everything once, about 1 ns a token, and
// allocates nothing for a request without maps of any values.
func (r *Request) Validate() error {
	if err := r.encodable(); err != nil {
		return err
	}
	for _, check := range [...]func(*Request) (field, rule string){
		checkIdentity, checkPrompt, checkEmbeds, checkSampling, checkPooling, checkLoRA, checkValues,
	} {
		if field, rule := check(r); rule != "" {
			return r.refuse(field, rule)
		}
	}
	return nil
}

func (r *Request) refuse(field, rule string) error {
	return &FieldError{Message: "request", ID: cut(r.ID), Field: field, Rule: rule}
}

func cut(id string) string { return id[:min(len(id), 64)] }

func checkIdentity(r *Request) (field, rule string) {
	switch {
	case r.ID == "":
		return "request_id", "must not be empty"
	case len(r.ID) > maxID:
		return "request_id", fmt.Sprintf("must be at most %d bytes, is %d", maxID, len(r.ID))
	case !finite(r.ArrivalTime):
		return "arrival_time", fmt.Sprintf("must be a finite number, is %v", r.ArrivalTime)
	case r.DataParallelRank != nil && *r.DataParallelRank < 0:
		return "data_parallel_rank", fmt.Sprintf("must be at least 0, is %d", *r.DataParallelRank)
	case r.ClientIndex < 0:
		return "client_index", fmt.Sprintf("must be at least 0, is %d", r.ClientIndex)
	case r.CurrentWave < 0:
		return "current_wave", fmt.Sprintf("must be at least 0, is %d", r.CurrentWave)
	case r.Sampling == nil && r.Pooling == nil:
		return "sampling_params", "must be set when pooling_params is not"
	case r.Sampling != nil && r.Pooling != nil:
		return "sampling_params", "must not be set beside pooling_params"
	}
	return "", ""
}

func checkPrompt(r *Request) (field, rule string) {
	switch {
	case r.Prompt == nil && r.PromptEmbeds == nil:
		return "prompt_token_ids", "must be set when prompt_embeds is not"
	case len(r.Prompt) == 0 && r.PromptEmbeds == nil:
		return "prompt_token_ids", "must not be empty"
	}
	// Engines keep tokens in int32 arrays; numpy raises on anything larger.
	var all uint32
	for _, t := range r.Prompt {
		all |= t
	}
	if all > math.MaxInt32 {
		return "prompt_token_ids", "must be below 2^31"
	}
	return "", ""
}

func checkEmbeds(r *Request) (field, rule string) {
	n := len(r.Prompt)
	if e := r.PromptEmbeds; e != nil {
		if len(e.Shape) != 2 {
			return "prompt_embeds", fmt.Sprintf("must have shape [positions, hidden size], has %v", e.Shape)
		}
		if r.Prompt == nil {
			n = e.Shape[0]
		} else if e.Shape[0] != n {
			return "prompt_embeds", fmt.Sprintf("must have %d positions as the prompt, has %d", n, e.Shape[0])
		}
		if n == 0 {
			return "prompt_embeds", "must not be empty"
		}
	}
	if is := r.PromptIsToken; is != nil {
		if len(is) != n {
			return "prompt_is_token_ids", fmt.Sprintf("must have %d entries as the prompt, has %d", n, len(is))
		}
		if r.PromptEmbeds == nil && slices.Contains(is, false) {
			return "prompt_is_token_ids", "must be true where there are no prompt_embeds"
		}
		if r.Prompt == nil && slices.Contains(is, true) {
			return "prompt_is_token_ids", "must be false where there are no prompt_token_ids"
		}
	}
	return "", ""
}

func checkPooling(r *Request) (field, rule string) {
	p := r.Pooling
	if p == nil {
		return "", ""
	}
	switch p.Task {
	case "", TaskEmbed, TaskClassify, TaskTokenEmbed, TaskTokenClassify, TaskPlugin, TaskEmbedAndTokenClassify:
	default:
		return "pooling_params.task", "unknown task " + printable(p.Task)
	}
	switch {
	case p.Dimensions != nil && *p.Dimensions < 1:
		return "pooling_params.dimensions", fmt.Sprintf("must be at least 1, is %d", *p.Dimensions)
	case p.LateChunking != nil && p.LateChunking.ChunkSize < 1:
		return "pooling_params.late_chunking_params", fmt.Sprintf("must be at least 1, is %d", p.LateChunking.ChunkSize)
	}
	return "", ""
}

func checkLoRA(r *Request) (field, rule string) {
	switch l := r.LoRA; {
	case l == nil:
	case l.ID < 1:
		return "lora_request.lora_int_id", fmt.Sprintf("must be at least 1, is %d", l.ID)
	case l.Path == "":
		return "lora_request.lora_path", "must not be empty"
	}
	return "", ""
}

// checkValues looks into the maps that are encoded by reflection.
func checkValues(r *Request) (field, rule string) {
	maps := [3]struct {
		field string
		m     map[string]any
	}{{"reasoning_parser_kwargs", r.ReasoningParserKwargs}}
	if r.Sampling != nil {
		maps[1].field, maps[1].m = "extra_args", r.Sampling.ExtraArgs
	}
	if r.Pooling != nil {
		maps[2].field, maps[2].m = "pooling_params.extra_kwargs", r.Pooling.ExtraKwargs
	}
	for _, v := range maps {
		if v.m == nil {
			continue
		}
		if why := checkValue(reflect.ValueOf(v.m), 0); why != "" {
			return v.field, why
		}
	}
	if s := r.Sampling; s != nil && s.StructuredOutputs != nil && s.StructuredOutputs.JSON != nil {
		if why := checkValue(reflect.ValueOf(FromJSON(s.StructuredOutputs.JSON)), 0); why != "" {
			return "structured_outputs.json", why
		}
	}
	if r.KVHints != nil {
		for _, a := range r.KVHints.Actions {
			if why := checkValue(reflect.ValueOf(a.Payload), 0); why != "" {
				return "kv_hints", why
			}
		}
	}
	return "", ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func validText(all ...string) bool {
	for _, s := range all {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}
