// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
)

// drawer makes random messages that have every field a release knows, by the
// field tables of layouts.json and not by those of the codec.
type drawer struct {
	t     *rapid.T
	wire  wireFields
	drawn map[string]bool // "Struct.Field": set at least once in the whole run.
}

// wireNames are our structs that layouts.json lists.
var wireNames = map[reflect.Type]string{
	reflect.TypeFor[codec.Request](): "EngineCoreRequest", reflect.TypeFor[codec.SamplingParams](): "SamplingParams",
	reflect.TypeFor[codec.PoolingParams](): "PoolingParams", reflect.TypeFor[codec.LoRARequest](): "LoRARequest",
	reflect.TypeFor[codec.StructuredOutputs]():   "StructuredOutputsParams",
	reflect.TypeFor[codec.RepetitionDetection](): "RepetitionDetectionParams",
	reflect.TypeFor[codec.Outputs]():             "EngineCoreOutputs", reflect.TypeFor[codec.Extra](): "EngineCoreOutput",
	reflect.TypeFor[codec.SchedulerStats]():   "SchedulerStats",
	reflect.TypeFor[codec.PrefixCacheStats](): "PrefixCacheStats", reflect.TypeFor[codec.PrefillStats](): "PrefillStats",
	reflect.TypeFor[codec.Ready](): "EngineCoreReadyResponse",
}

// has reports whether the release has a struct's field.
func (d *drawer) has(structure, field string) bool { return slices.Contains(d.wire[structure], field) }

// fill draws every field of a struct that the release knows.
func (d *drawer) fill(v reflect.Value) {
	t := v.Type()
	var fields []string
	if name, listed := wireNames[t]; listed {
		for _, python := range d.wire[name] {
			for i := range t.NumField() {
				if f := placeOf(v, python); f.IsValid() && f.Addr() == v.Field(i).Addr() {
					fields = append(fields, t.Field(i).Name)
				}
			}
		}
	} else {
		for f := range t.Fields() {
			fields = append(fields, f.Name)
		}
	}
	for _, name := range fields {
		f := v.FieldByName(name)
		label := t.Name() + "." + name
		if draw, special := specials[label]; special {
			if x := draw(d); x != nil {
				f.Set(reflect.ValueOf(x).Convert(f.Type()))
			}
		} else {
			d.value(f, label)
		}
		if !f.IsZero() {
			d.drawn[label] = true
		}
	}
}

// value draws by type alone.
func (d *drawer) value(v reflect.Value, label string) {
	t := d.t
	switch v.Interface().(type) {
	case *codec.Tensor:
		d.tensor(v, label)
		return
	case codec.EventType:
		v.SetInt(rapid.Int64Range(1, 3).Draw(t, label))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, label))
	case reflect.Uint32:
		v.SetUint(uint64(rapid.Uint32Range(0, math.MaxInt32).Draw(t, label)))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, label))
	case reflect.String:
		v.SetString(rapid.StringN(0, 40, -1).Draw(t, label))
	case reflect.Interface:
		if x := drawAny(t, 2); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	case reflect.Struct:
		d.fill(v)
	default:
		d.optional(v, label)
	}
}

func (d *drawer) optional(v reflect.Value, label string) {
	if !rapid.Bool().Draw(d.t, label+" set") {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(v.Elem(), label)
	case reflect.Slice:
		n := rapid.IntRange(0, 4).Draw(d.t, label+" length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			d.value(v.Index(i), label)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 3).Draw(d.t, label+" length") {
			k, x := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			d.value(k, label)
			d.value(x, label)
			v.SetMapIndex(k, x)
		}
	default:
		panic(fmt.Sprintf("no way to draw %s %s", label, v.Type()))
	}
}

// tensor draws one of a type that fits the field, as often too large for the
// payload as not.
func (d *drawer) tensor(v reflect.Value, label string) {
	if !rapid.Bool().Draw(d.t, label+" set") {
		return
	}
	numpy := strings.HasSuffix(label, "RoutedExperts") || strings.HasPrefix(label, "SamplingMask.") || strings.HasSuffix(label, "PromptLogprobTokenIDs")
	dims := 1 + strings.Count(label, "Prompt")
	shape := make([]int, dims)
	for i := range shape {
		shape[i] = rapid.IntRange(0, 10).Draw(d.t, label+" shape")
	}
	v.Set(reflect.ValueOf(drawTensor(d.t, numpy, shape...)))
}

// drawAny draws what Python may put into a map of any values.
func drawAny(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6+min(depth, 1)*2).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "any")
	case 2:
		return rapid.Int64().Draw(t, "any")
	case 3:
		return rapid.Uint64Min(1<<63).Draw(t, "any")
	case 4:
		return rapid.Float64().Draw(t, "any")
	case 5:
		return rapid.StringN(0, 40, -1).Draw(t, "any")
	case 6:
		return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "any")
	case 7:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawAny(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		m[rapid.StringN(0, 40, -1).Draw(t, "key")] = drawAny(t, depth-1)
	}
	return m
}
