// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"reflect"
	"slices"

	"github.com/corepipe/corepipe/codec"
)

// activations are the four names that UseActivation had.
var activations = []string{"use_activation", "normalize", "activation", "softmax"}

// record compares the fields of a struct by vLLM's names. What we keep
// elsewhere or decode when asked is fetched from there.
func (c *conformity) record(path string, want any, got reflect.Value) {
	fields, ok := want.(map[string]any)
	if !ok {
		c.say(path, "python has %v, we a struct", want)
		return
	}
	if p, ok := reflect.TypeAssert[codec.PoolingParams](got); ok {
		fields = c.activation(path, fields, p)
	}
	_, newer := fields["structured_outputs"]
	for key, v := range fields {
		if key == "guided_decoding" && !newer {
			key = "structured_outputs" // by its old name.
		}
		at := path + "." + key
		if wrapped, ok := v.(map[string]any); ok && key == "result" {
			if kind, is := wrapped["type_info"]; is && kind == nil {
				v = wrapped["result"] // UtilityResult, since 0.10.1.
			}
		}
		f, known := c.field(at, key, got)
		switch {
		case known:
			if f.IsValid() && f.CanAddr() && f.Kind() == reflect.Struct {
				f = f.Addr()
			}
			c.value(at, v, f)
		case v == nil || slices.Contains(unkept, key):
		case key == "eos_token_id": // of a pooling request, which knows no end.
		default:
			c.say(at, "python has %v, we have no such field", v)
		}
	}
}

// field gives the place of a Python field; false when we have none.
func (c *conformity) field(path, key string, got reflect.Value) (reflect.Value, bool) {
	switch v := got.Interface().(type) {
	case *codec.Request:
		if key == "eos_token_id" && v.Sampling != nil {
			return reflect.ValueOf(v.Sampling.EOSTokenID), true
		}
	case *codec.Outputs:
		if key == "scheduler_stats" {
			s, err := v.Stats()
			c.failed(path, err)
			return reflect.ValueOf(s), true
		}
	case *codec.Output:
		if f := placeOf(got.Elem(), key); f.IsValid() {
			return f, true
		}
		x, err := v.Extra()
		c.failed(path, err)
		f := placeOf(reflect.ValueOf(&x).Elem(), key)
		return f, f.IsValid()
	case *codec.UtilityOutput:
		return c.utility(path, key, v), true
	case codec.PoolingParams:
		if key == "output_kind" {
			return reflect.ValueOf(codec.FinalOnly), true
		}
	case codec.Init:
		if key == "addresses" {
			return got, true
		}
	}
	for got.Kind() == reflect.Pointer {
		got = got.Elem()
	}
	f := placeOf(got, key)
	return f, f.IsValid()
}

// utility has the result as Python's UtilityResult, or bare in old releases.
func (c *conformity) utility(path, key string, u *codec.UtilityOutput) reflect.Value {
	switch key {
	case "call_id":
		return reflect.ValueOf(u.CallID)
	case "failure_message":
		return reflect.ValueOf(u.Failure)
	}
	v, err := u.Result()
	c.failed(path, err)
	return reflect.ValueOf(v)
}

func (c *conformity) failed(path string, err error) {
	if err != nil {
		c.say(path, "%v", err)
	}
}

// activation compares UseActivation with its names in the release: at least one
// has it, as the task says, and none another value. It gives the other fields.
func (c *conformity) activation(path string, fields map[string]any, p codec.PoolingParams) map[string]any {
	rest, known, found := map[string]any{}, false, p.UseActivation == nil
	for key, v := range fields {
		if !slices.Contains(activations, key) {
			rest[key] = v
			continue
		}
		known = true
		if v != nil && (p.UseActivation == nil || v != *p.UseActivation) {
			c.say(path+"."+key, "python has %v, we %v", v, p.UseActivation)
		}
		found = found || v != nil
	}
	if known && !found {
		c.say(path, "python has no activation, we %v", *p.UseActivation)
	}
	return rest
}

// placeOf is fieldOf with the names of old releases.
func placeOf(v reflect.Value, key string) reflect.Value {
	if key == "num_corrupted_reqs" {
		return v.FieldByName("NumCorrupted")
	}
	return fieldOf(v, key)
}
