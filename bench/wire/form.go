// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strconv"

	"github.com/corepipe/corepipe/codec"
)

// form says what stands where in a value. A nil form is a value of any kind.
type form struct {
	title  string        // the struct's name.
	fields []slot        // of an array: its positions.
	each   *form         // of an array without names: its elements.
	worded bool          // an array that begins with a string has no names.
	layout *codec.Layout // nil for a struct that is the same in all releases.
}

type slot struct {
	name string
	zero byte // the field's default in msgpack.
	form *form
}

const zeroNil = 0xc0

// positions is the form of a struct that is the same in all releases.
func positions(names ...string) *form {
	f := &form{}
	for _, n := range names {
		f.fields = append(f.fields, slot{n, zeroNil, nil})
	}
	return f
}

// with gives f with the form of a field set, where the release has the field. A
// nil form stays nil.
func (f *form) with(name string, inner *form) *form {
	if f == nil {
		return nil
	}
	for i := range f.fields {
		if f.fields[i].name == name {
			f.fields[i].form = inner
		}
	}
	return f
}

// structForm is the form of a struct in a layout; nil where there is none.
func structForm(l *codec.Layout, s codec.Struct) *form {
	fields := l.Fields(s)
	if len(fields) == 0 {
		return nil
	}
	f := &form{title: s.String(), layout: l}
	for _, x := range fields {
		f.fields = append(f.fields, slot{x.Name, x.Default, nil})
	}
	return f
}

// formOf is the form of a payload.
func formOf(k Kind, l *codec.Layout) *form {
	switch k {
	case Request:
		return requestForm(l)
	case Outputs:
		return outputsForm(l)
	case Utility:
		return positions("client_index", "call_id", "method", "args")
	case Wave:
		return positions("wave", "exclude")
	case Coordinator:
		f := positions("engine", "wave")
		f.worded = true
		return f
	case Counts:
		row := positions("waiting", "running", "kv_cache_usage")
		return positions("counts", "wave", "running").with("counts", &form{each: row})
	}
	return nil
}

func requestForm(l *codec.Layout) *form {
	pooling := structForm(l, codec.StructPooling).
		with("late_interaction_params", positions("mode", "query_key", "query_uses")).
		with("late_chunking_params", positions("chunk_size"))
	return structForm(l, codec.StructRequest).
		with("pooling_params", pooling).
		with("lora_request", structForm(l, codec.StructLoRA))
}

func outputsForm(l *codec.Layout) *form {
	row := structForm(l, codec.StructOutput).
		with("new_logprobs", structForm(l, codec.StructLogprobsLists)).
		with("new_prompt_logprobs_tensors", structForm(l, codec.StructLogprobsTensors)).
		with("new_sampling_mask", positions("token_ids", "offsets", "cu_num_generated_tokens"))
	utility := structForm(l, codec.StructUtilityOutput).
		with("result", structForm(l, codec.StructUtilityResult))
	return structForm(l, codec.StructOutputs).
		with("outputs", &form{each: row}).
		with("utility_output", utility)
}

// names reports whether an array of this form is shown as an object.
func (f *form) names(v *value) bool {
	return f != nil && f.fields != nil && v.kind == array && (!f.worded || len(v.list) == 0 || v.list[0].kind != text)
}

// step gives the form of position i of a container, and what a path calls it.
func (f *form) step(v *value, i int) (inner *form, name string) {
	switch {
	case v.kind == mapping:
		if i%2 == 0 {
			return nil, "{key " + strconv.Itoa(i/2) + "}"
		}
		return nil, "." + label(&v.list[i-1])
	case f.names(v) && i < len(f.fields):
		return f.fields[i].form, "." + f.fields[i].name
	case f != nil:
		inner = f.each
	}
	return inner, "[" + strconv.Itoa(i) + "]"
}

// label is a key as a path shows it: short, and of one line.
func label(key *value) string {
	switch key.kind {
	case text:
		s := string(key.bytes[:min(len(key.bytes), 64)])
		if plain(s) {
			return s
		}
		return strconv.QuoteToASCII(s)
	case natural:
		return strconv.FormatUint(key.bits, 10)
	case negative:
		return strconv.FormatInt(int64(key.bits), 10)
	}
	return "(" + key.kind.String() + ")"
}

func plain(s string) bool {
	for _, c := range s {
		if c <= ' ' || c > '~' || c == '.' || c == '[' || c == '"' {
			return false
		}
	}
	return s != ""
}
