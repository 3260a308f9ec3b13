// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/corepipe/corepipe/codec"
)

// conform compares a message as Python sees it, by field name, with ours. It
// gives what differs. Unlike match it takes no test: a property is run often.
func conform(want any, got any) []string {
	c := &conformity{}
	c.value("message", want, reflect.ValueOf(got))
	return c.differ
}

type conformity struct{ differ []string }

func (c *conformity) say(path, format string, args ...any) {
	c.differ = append(c.differ, path+": "+fmt.Sprintf(format, args...))
}

// unkept are fields of old releases that mean nothing to a client or an engine
// of ours, by name.
var unkept = []string{
	"use_cross_encoder", "additional_data", "truncate_prompt_tokens",
	"long_lora_max_len", "tensorizer_config_dict", "lora_local_path",
	"best_of", "logits_processors", "guided_decoding",
	"disable_fallback", "_real_n",
}

// always are the lists and maps that have no None: an empty one may be nil here.
var always = []string{
	"outputs", "inputs", "new_token_ids", "histogram", "num_accepted_tokens_per_pos", "num_draft_tokens_per_pos", "actions",
	"kv_cache_eviction_events", "reuse_gaps_seconds", "payload", "hits_by_source", "num_kv_fetch_reqs_by_stage",
	"waiting_lora_adapters", "running_lora_adapters", "parallel_config", "slices", "slice_groups", "per_step_accepted", "per_step_drafted",
}

func (c *conformity) value(path string, want any, got reflect.Value) {
	for got.IsValid() && (got.Kind() == reflect.Pointer || got.Kind() == reflect.Interface) {
		if got.IsNil() {
			got = reflect.Value{}
			break
		}
		switch v := got.Interface().(type) {
		case *codec.Tensor:
			c.tensor(path, want, v)
			return
		case *codec.Outputs, *codec.Output, *codec.UtilityOutput, *codec.Request:
			c.record(path, want, reflect.ValueOf(v))
			return
		case *codec.Slice:
			got = reflect.ValueOf([]*int{v.Start, v.Stop, v.Step})
		default:
			got = got.Elem()
		}
	}
	switch want := want.(type) {
	case bool:
		// The default of the releases that came with it, which we do not send.
		if want && !got.IsValid() && strings.HasSuffix(path, ".watermarking") {
			return
		}
		c.scalar(path, want, got)
	case nil:
		if unlimited := strings.HasSuffix(path, ".max_tokens") && got.Int() == codec.NoLimit; isSet(got) && !unlimited {
			c.say(path, "python has None, we %v", got)
		}
	case []any:
		c.list(path, want, got)
	case map[string]any:
		c.mapping(path, want, got)
	default:
		c.scalar(path, want, got)
	}
}

// isSet says whether a value is more than the one that stands for nil.
func isSet(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return !v.IsNil()
	}
	return !v.IsZero()
}

func (c *conformity) scalar(path string, want any, got reflect.Value) {
	name := path[strings.LastIndex(path, ".")+1:]
	if standard, ok := defaults[name]; ok && strings.Contains(path, "sampling_params") && (!got.IsValid() || got.CanInt() && got.IsZero()) {
		if standard != text(want) {
			c.say(path, "python has %v, we the default", want)
		}
		return
	}
	if !got.IsValid() {
		c.say(path, "python has %v, we nothing", want)
		return
	}
	if strings.HasSuffix(path, ".stop") && got.Kind() == reflect.Slice && got.Len() == 1 {
		got = got.Index(0) // vLLM takes one string for a list of it.
	}
	same := false
	switch n, _ := want.(json.Number); {
	case got.Type() == reflect.TypeFor[codec.FinishReason]():
		same = n.String() == strconv.Itoa(int(got.Uint())-1)
	case got.Type() == reflect.TypeFor[[]byte]():
		same = want == string(got.Bytes())
	case got.CanFloat():
		f, err := n.Float64()
		same = err == nil && f == got.Float()
	default:
		same = text(want) == fmt.Sprint(got.Interface())
	}
	if !same {
		c.say(path, "python has %q, we %q", text(want), fmt.Sprint(got))
	}
}

func (c *conformity) list(path string, want []any, got reflect.Value) {
	if !got.IsValid() || got.Kind() != reflect.Slice || got.Len() != len(want) || c.lost(path, got) {
		c.say(path, "python has %d elements, we %v", len(want), got)
		return
	}
	for i := range want {
		e := got.Index(i)
		if e.CanAddr() && e.Kind() == reflect.Struct {
			e = e.Addr()
		}
		c.value(path+"["+strconv.Itoa(i)+"]", want[i], e)
	}
}

func (c *conformity) mapping(path string, want map[string]any, got reflect.Value) {
	switch {
	case want["$tensor"] != nil || want["$ndarray"] != nil:
		c.say(path, "python has a tensor, we %v", got)
	case want["$bin"] != nil:
		if b, ok := reflect.TypeAssert[[]byte](got); !ok || hex.EncodeToString(b) != want["$bin"] {
			c.say(path, "python has bytes %v, we %v", want["$bin"], got)
		}
	case want["$set"] != nil:
		c.set(path, want["$set"].([]any), got)
	case want["$map"] != nil:
		c.pairs(path, want["$map"].([]any), got)
	case got.IsValid() && got.Kind() == reflect.Struct:
		c.record(path, want, got)
	case !got.IsValid() || got.Kind() != reflect.Map:
		c.say(path, "python has %v, we %v", want, got)
	default:
		if got.Len() != len(want) || c.lost(path, got) {
			c.say(path, "python has %d keys, we %d", len(want), got.Len())
		}
		for k, v := range want {
			c.value(path+"."+k, v, got.MapIndex(reflect.ValueOf(k)))
		}
	}
}

// lost says that a list or map is nil here where Python has an empty one.
func (c *conformity) lost(path string, got reflect.Value) bool {
	name := path[strings.LastIndex(path, ".")+1:]
	return got.IsNil() && !slices.Contains(always, name)
}

func (c *conformity) set(path string, want []any, got reflect.Value) {
	var a, b []string
	for _, v := range want {
		a = append(a, text(v))
	}
	for i := range lenOf(got) {
		b = append(b, fmt.Sprint(got.Index(i).Interface()))
	}
	slices.Sort(a)
	slices.Sort(b)
	if b = slices.Compact(b); !slices.Equal(a, b) {
		c.say(path, "python has the set %v, we %v", a, b)
	}
}

func lenOf(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}

// pairs are maps whose keys are no strings; keys are compared by their text.
func (c *conformity) pairs(path string, want []any, got reflect.Value) {
	if lenOf(got) != len(want) {
		c.say(path, "python has %d keys, we %d", len(want), lenOf(got))
		return
	}
	have := map[string]reflect.Value{}
	for _, k := range got.MapKeys() {
		have[fmt.Sprint(k.Interface())] = got.MapIndex(k)
	}
	for _, p := range want {
		k := text(p.([]any)[0])
		c.value(path+"."+k, p.([]any)[1], have[k])
	}
}

func (c *conformity) tensor(path string, want any, got *codec.Tensor) {
	w, _ := want.(map[string]any)
	tag := "$tensor"
	if got.NumPy {
		tag = "$ndarray"
	}
	body, _ := w[tag].(map[string]any)
	if list, ok := want.([]any); ok && got.NumPy {
		c.numbers(path, list, got)
		return
	}
	if body == nil {
		c.say(path, "python has %.200v, we a %s", want, tag)
		return
	}
	shape := []any{}
	for _, n := range got.Shape {
		shape = append(shape, json.Number(strconv.Itoa(n)))
	}
	if body["dtype"] != got.DType || !reflect.DeepEqual(body["shape"], shape) || body["bytes"] != hex.EncodeToString(got.Data) {
		c.say(path, "python has %v %v, we %s %v, or the data differs", body["dtype"], body["shape"], got.DType, got.Shape)
	}
}

// numbers compares what old releases send as lists, in lists for each row.
func (c *conformity) numbers(path string, want []any, got *codec.Tensor) {
	var flat []string
	for _, v := range want {
		row, nested := v.([]any)
		if !nested {
			row = []any{v}
		}
		for _, n := range row {
			flat = append(flat, short(text(n)))
		}
	}
	var have []string
	if ints, err := got.Ints(); err == nil {
		for _, n := range ints {
			have = append(have, strconv.FormatInt(n, 10))
		}
	} else {
		floats, err := got.Floats()
		c.failed(path, err)
		for _, n := range floats {
			have = append(have, short(show(reflect.ValueOf(n))))
		}
	}
	if rows := got.Shape[0]; rows != len(want) && !strings.HasSuffix(path, ".prompt_logprob_token_ids") || !slices.Equal(flat, have) {
		c.say(path, "python has %v, we %v %v", want, got.Shape, have)
	}
}

// short is a number that is no integer in one way of writing.
func short(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !strings.ContainsAny(s, ".e") {
		return s
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
