// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"github.com/corepipe/corepipe/codec"
)

// matchRaw compares the manifest's untyped decode of a payload with our own
// untyped decode of what we encoded.
func matchRaw(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) && !shortLoRA(want, list) {
			t.Errorf("%s: want %v, got %v", path, want, got)
			return
		}
		for i := range list {
			matchRaw(t, path+"["+strconv.Itoa(i)+"]", want[i], list[i])
		}
	case map[string]any:
		matchRawTag(t, path, want, got)
	default:
		if _, float := got.(float64); float || text(want) != fmt.Sprint(got) {
			t.Errorf("%s: want %v, got %v (%T)", path, want, got, got)
		}
	}
}

// shortLoRA reports whether got is want without two bools that are false.
func shortLoRA(want, got []any) bool {
	return len(got) == 4 && len(want) == 6 && want[4] == false && want[5] == false
}

func matchRawTag(t *testing.T, path string, want map[string]any, got any) {
	t.Helper()
	switch {
	case want["$map"] != nil:
		pairs := want["$map"].([]any)
		have := entries(got)
		if len(have) != len(pairs) {
			t.Errorf("%s: want %v, got %v", path, pairs, got)
		}
		for _, pair := range pairs {
			k := text(pair.([]any)[0])
			v, ok := have[k]
			if !ok {
				t.Errorf("%s: %s is missing", path, k)
				continue
			}
			matchRaw(t, path+"."+k, pair.([]any)[1], v)
		}
	case want["$f64"] != nil:
		f, ok := got.(float64)
		if w, _ := strconv.ParseFloat(text(want["$f64"]), 64); !ok || f != w {
			t.Errorf("%s: want %v, got %v", path, w, got)
		}
	case want["$ext"] != nil, want["$bin"] != nil:
		w := want["$bin"]
		if ext, ok := want["$ext"].([]any); ok {
			w = ext[1]
		}
		if b, ok := got.([]byte); !ok || hex.EncodeToString(b) != w {
			t.Errorf("%s: want %v, got %v", path, w, got)
		}
	case want["$int"] != nil:
		if text(want["$int"]) != fmt.Sprint(got) {
			t.Errorf("%s: want %v, got %v", path, want["$int"], got)
		}
	case want["$ints"] != nil:
		matchRawInts(t, path, want["$ints"].(map[string]any), got.([]any))
	default:
		t.Errorf("%s: unknown tag in %v", path, want)
	}
}

func matchRawInts(t *testing.T, path string, want map[string]any, got []any) {
	t.Helper()
	sum := new(big.Int)
	for _, v := range got {
		n, _ := new(big.Int).SetString(fmt.Sprint(v), 10)
		sum.Add(sum, n)
	}
	if w := text(want["len"]); w != strconv.Itoa(len(got)) || text(want["sum"]) != sum.String() {
		t.Errorf("%s: want %v, got %d with sum %s", path, want, len(got), sum)
	}
	for i, v := range want["first"].([]any) {
		matchRaw(t, path, v, got[i])
	}
	last := want["last"].([]any)
	for i, v := range last {
		matchRaw(t, path, v, got[len(got)-len(last)+i])
	}
}

func entries(v any) map[string]any {
	switch m := v.(type) {
	case map[string]any:
		return m
	case map[any]any:
		out := map[string]any{}
		for k, x := range m {
			out[fmt.Sprint(k)] = x
		}
		return out
	}
	return nil
}

// untyped decodes a payload without any knowledge of messages.
func untyped(t testing.TB, b []byte) any {
	t.Helper()
	v, err := codec.DecodeValue(b)
	check(t, err)
	return v
}
