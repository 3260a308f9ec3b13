// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"reflect"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// matchStruct looks each key of the manifest up in our struct. What we keep
// elsewhere (rare fields, statistics, utility results) is fetched from there.
func matchStruct(t *testing.T, path string, want map[string]any, got reflect.Value) {
	t.Helper()
	if !got.IsValid() || got.Kind() != reflect.Struct {
		t.Errorf("%s: want %v, got %v", path, want, got)
		return
	}
	for key, v := range want {
		switch {
		case key == "$type":
		case key == "output_kind" && want["$type"] == "PoolingParams": // it has one value only.
		default:
			match(t, path+"."+key, v, lookup(t, path, key, want["$type"], got))
		}
	}
}

func lookup(t *testing.T, path, key string, kind any, got reflect.Value) reflect.Value {
	t.Helper()
	if got.CanAddr() {
		switch v := got.Addr().Interface().(type) {
		case *codec.Outputs:
			if key == "scheduler_stats" {
				s, err := v.Stats()
				check(t, err)
				return reflect.ValueOf(s)
			}
		case *codec.Output:
			if f := fieldOf(got, key); f.IsValid() {
				return f
			}
			x, err := v.Extra()
			check(t, err)
			return fieldOf(reflect.ValueOf(&x).Elem(), key)
		case *codec.UtilityOutput:
			return utilityField(t, key, v)
		case *codec.Init:
			if key == "addresses" {
				return got
			}
		}
	}
	if kind == "MultiModalFeatureSpec" && key == "data" {
		return itemMap(got.FieldByName("Data"))
	}
	if key == "slices" && !got.FieldByName("SliceGroups").IsNil() {
		return got.FieldByName("SliceGroups")
	}
	f := fieldOf(got, key)
	if !f.IsValid() {
		t.Errorf("%s: no field for %s in %s", path, key, got.Type())
	}
	return f
}

func utilityField(t *testing.T, key string, u *codec.UtilityOutput) reflect.Value {
	t.Helper()
	switch key {
	case "call_id":
		return reflect.ValueOf(u.CallID)
	case "failure_message":
		return reflect.ValueOf(u.Failure)
	}
	if u.Failed() {
		return reflect.Value{}
	}
	v, err := u.Result()
	check(t, err)
	// As the manifest has it: a struct that holds the value as "result".
	return reflect.ValueOf(struct{ Result any }{withTensors(t, u, v)})
}

// withTensors replaces the triples that are tensors.
func withTensors(t *testing.T, u *codec.UtilityOutput, v any) any {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		return v
	}
	if len(list) == 3 && reflect.TypeOf(list[0]) == reflect.TypeFor[string]() && reflect.TypeOf(list[1]) == reflect.TypeFor[[]any]() {
		tensor, err := u.Tensor(v)
		check(t, err)
		return tensor
	}
	for i := range list {
		list[i] = withTensors(t, u, list[i])
	}
	return list
}

func itemMap(items reflect.Value) reflect.Value {
	if items.IsNil() {
		return reflect.Value{}
	}
	out := map[string]codec.MMItem{}
	for _, item := range items.Interface().([]codec.MMItem) {
		out[item.Key] = item
	}
	return reflect.ValueOf(out)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
