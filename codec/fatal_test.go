// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// loose is a request of 0.32.0 as values, to be spoilt in ways that Go's types
// do not allow.
func loose(change func(f []any)) []any {
	f := make([]any, 22)
	f[0], f[1], f[3], f[5] = "r", []any{1, 2, 3}, map[string]any{"max_tokens": 8}, 1.5
	f[11], f[12], f[13], f[15], f[19] = 0, 0, 0, false, false
	change(f)
	return f
}

func at(i int, v any) func([]any) { return func(f []any) { f[i] = v } }

func key(name string, v any) func([]any) { return at(3, map[string]any{name: v}) }

// fatal are the cases that an engine's input thread was seen to die of, in the
// order of the list that says so, as far as they are a matter of form. No Go
// value makes them, so it is the decoder that is seen to refuse them, as an
// engine of ours must. Cases of value stand in the tables of Validate.
var fatal = []struct {
	name, field string
	request     []any
}{
	{"eight elements", "", loose(at(0, "r"))[:8]},
	{"nil for an int", "client_index", loose(at(11, nil))},
	{"nil for a bool", "resumable", loose(at(15, nil))},
	{"0.0 for an int", "priority", loose(at(13, 0.0))},
	{"5.0 for an int of the sampling parameters", "max_tokens", loose(key("max_tokens", 5.0))},
	{"a string for a float", "arrival_time", loose(at(5, "1.5"))},
	{"bytes for the id", "request_id", loose(at(0, []byte("r")))},
	{"an int for the id", "request_id", loose(at(0, 7))},
	{"bytes for tokens", "prompt_token_ids", loose(at(1, []byte{1, 2}))},
	{"an int for the salt", "cache_salt", loose(at(7, 7))},
	{"string keys in logit_bias", "logit_bias", loose(key("logit_bias", map[string]any{"5": 1.5}))},
	{"an adapter as a map", "lora_request", loose(at(6, map[string]any{"lora_name": "a"}))},
	{"a tensor of an unknown dtype", "prompt_embeds", loose(at(9, []any{"float33", []any{1, 1}, []byte{1, 2, 3, 4}}))},
	{"a tensor in a frame that is not there", "prompt_embeds", loose(at(9, []any{"float32", []any{1, 1}, 1}))},
	{"a pooling request of another output kind", "pooling_params", loose(at(4, []any{nil, nil, nil, nil, "embed", false, nil, nil, nil, 1}))},
	{"an adapter of seven elements, before 0.32.0", "lora_request", loose(at(6, []any{"a", 1, "/p", nil, nil, false, false}))},
	{"a request of 17 elements, 0.19.1", "prompt_is_token_ids", append(append(append([]any{}, loose(at(9, nil))[:10]...), 0, 0, 0, nil), false, nil, nil)},
}

func TestFormsThatKillAnEngineAreRefused(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for _, c := range fatal {
		r, err := l.DecodeRequest([][]byte{val(t, c.request)})
		var typed *codec.DecodeError
		if r != nil || !errors.As(err, &typed) || typed.Field != c.field {
			t.Errorf("%s: want an error about %q, got %v", c.name, c.field, err)
		}
	}
	good := val(t, loose(at(0, "r")))
	for name, frames := range map[string][][]byte{
		"no array": {{0x80}}, "no msgpack": {{0xc1}}, "trailing bytes": {append(slices.Clip(good), 0xc0)}, "no payload": {}, "an empty payload": {{}},
	} {
		if r, err := l.DecodeRequest(frames); r != nil || err == nil {
			t.Errorf("%s: got %v", name, r)
		}
	}
	for name, b := range map[string][]byte{
		"three elements": val(t, []any{0, 1, "m"}), "arguments that are no array": val(t, []any{0, 1, "m", nil}), "a call id that is text": val(t, []any{0, "1", "m", []any{}}),
	} {
		if u, err := codec.DecodeUtility(b); u != nil || err == nil {
			t.Errorf("a utility call with %s: got %v", name, u)
		}
	}
}

func TestFormsThatAnEngineTakesAreTaken(t *testing.T) {
	l := layout(t, codec.DefaultRelease)
	for name, f := range map[string][]any{
		"nine elements":                loose(at(0, "r"))[:9],
		"23 elements":                  append(loose(at(0, "r")), "later"),
		"an int for a float":           loose(at(5, 1)),
		"a float of 32 bits":           loose(at(5, float32(1.5))),
		"unknown sampling keys":        loose(key("new_in_0.40", []any{1})),
		"no sampling keys":             loose(at(3, map[string]any{})),
		"nil stop lists":               loose(at(3, map[string]any{"stop": nil, "stop_token_ids": nil, "bad_words": nil})),
		"a stop string alone":          loose(key("stop", "a")),
		"duplicate stop tokens":        loose(key("_all_stop_token_ids", []any{2, 2})),
		"ints in logit_bias":           loose(key("logit_bias", map[int]int{5: 1})),
		"bytes in extra_args":          loose(key("extra_args", map[string]any{"a": []byte{1}})),
		"seed -1":                      loose(key("seed", -1)),
		"n 2":                          loose(key("n", 2)),
		"an adapter of three elements": loose(at(6, []any{"a", 1, "/p"})),
		"an adapter of four":           loose(at(6, []any{"a", 1, "/p", "b"})),
		"an adapter of six":            loose(at(6, []any{"a", 1, "/p", nil, true, false})),
		"pooling of five elements":     loose(at(4, []any{nil, nil, nil, nil, "embed"})),
		"pooling of ten":               loose(at(4, []any{nil, nil, nil, nil, "embed", false, nil, nil, nil, 2})),
		"pooling of eleven":            loose(at(4, []any{nil, nil, nil, nil, "embed", false, nil, nil, nil, 2, []any{8}})),
		"one structured key":           loose(key("structured_outputs", map[string]any{"regex": "a"})),
	} {
		if _, err := l.DecodeRequest([][]byte{val(t, f)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
