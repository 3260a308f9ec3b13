// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// Requests without rare fields take a shorter way, on which none may be forgotten.
func TestNoFieldOfARequestIsLostOnTheShortWay(t *testing.T) {
	usual := func() *codec.Request {
		return &codec.Request{ID: "r", Prompt: []uint32{1}, Sampling: &codec.SamplingParams{}}
	}
	for name, of := range map[string]func(r *codec.Request) reflect.Value{
		"Request":        func(r *codec.Request) reflect.Value { return reflect.ValueOf(r).Elem() },
		"SamplingParams": func(r *codec.Request) reflect.Value { return reflect.ValueOf(r.Sampling).Elem() },
	} {
		l := layout(t, "0.33.0")
		without, _, err := l.AppendRequest(nil, nil, usual())
		check(t, err)
		v := of(usual())
		for i := range v.NumField() {
			r := usual()
			f := of(r).Field(i)
			f.Set(something(f.Type()))
			with, _, err := l.AppendRequest(nil, nil, r)
			if err == nil && bytes.Equal(with, without) {
				t.Errorf("%s.%s is not sent", name, v.Type().Field(i).Name)
			}
		}
	}
}

// something is a value that is neither zero nor a default: false where true is one.
func something(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + 1)
	case reflect.Uint32, reflect.Uint8:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		if t.Elem().Kind() != reflect.Bool {
			v.Elem().Set(something(t.Elem()))
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, something(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(something(t.Key()), something(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			if f := v.Field(i); f.CanSet() {
				f.Set(something(f.Type()))
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	}
	return v
}
