// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/shamaton/msgpack/v2"
)

// AppendValue appends v in msgpack. It takes what DecodeValue gives, all Go
// numbers, slices, arrays, maps with string or number keys, and structs with
// exported fields (as maps, by their msgpack tags). Anything that would vanish
// or kill a reader is a *FieldError: invalid UTF-8 at any depth, functions,
// channels, complex numbers, times, structs without exported fields, numbers as
// text (json.Number), nesting over 64. A float64 stays a float, whole or not;
// see FromJSON. The order of map keys is random. It allocates: a value is
// checked by reflection and encoded aside first.
func AppendValue(dst []byte, v any) (out []byte, err error) {
	if why := checkValue(reflect.ValueOf(v), 0); why != "" {
		return dst, &FieldError{Message: "value", Field: fmt.Sprintf("%T", v), Rule: why}
	}
	defer func() {
		if p := recover(); p != nil {
			out, err = dst, &FieldError{Message: "value", Field: fmt.Sprintf("%T", v), Rule: fmt.Sprint(p)}
		}
	}()
	b, err := msgpack.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("codec: value of %T: %w", v, err)
	}
	return append(dst, b...), nil
}

// checkValue gives what is wrong with a value, empty when nothing is.
func checkValue(v reflect.Value, depth int) string {
	if depth > maxDepth {
		return "nested too deep"
	}
	switch v.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return "has a " + v.Kind().String() + ", which msgpack cannot hold"
	case reflect.String:
		if v.Type() == reflect.TypeFor[json.Number]() {
			return "has a json.Number, which would travel as text: see FromJSON"
		}
		if !utf8.ValidString(v.String()) {
			return "has invalid UTF-8"
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			// A pointer adds no nesting on the wire, but a cycle must end.
			return checkValue(v.Elem(), depth+1-btoi(v.Kind() == reflect.Interface))
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k == reflect.Uint8 || k >= reflect.Bool && k <= reflect.Float64 && k != reflect.Uintptr {
			return ""
		}
		for i := range v.Len() {
			if why := checkValue(v.Index(i), depth+1); why != "" {
				return why
			}
		}
	case reflect.Map:
		return checkMap(v, depth)
	case reflect.Struct:
		return checkStruct(v, depth)
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func checkMap(v reflect.Value, depth int) string {
	for it := v.MapRange(); it.Next(); {
		key := it.Key()
		if key.Kind() == reflect.Interface {
			key = key.Elem() // invalid for nil, Python's None.
		}
		if k := key.Kind(); k != reflect.Invalid && k != reflect.String && (k < reflect.Bool || k > reflect.Float64) {
			return "has a map key of " + k.String()
		}
		if why := checkValue(key, depth+1); why != "" {
			return why
		}
		if why := checkValue(it.Value(), depth+1); why != "" {
			return why
		}
	}
	return ""
}

// checkStruct refuses what the encoder would silently leave out or misplace.
func checkStruct(v reflect.Value, depth int) string {
	switch v.Interface().(type) {
	case Tensor, time.Time:
		return "has a " + v.Type().String() + ", which does not travel in values"
	}
	fields := 0
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		fields++
		if why := checkValue(v.Field(i), depth+1); why != "" {
			return why
		}
	}
	if fields == 0 {
		return "has a " + v.Type().String() + " without exported fields"
	}
	return ""
}
