// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// whole are the structs that travel with all their fields.
var whole = map[any]bool{
	"EngineCoreRequest": true, "EngineCoreOutputs": true, "EngineCoreOutput": true, "LoRARequest": true, "PoolingParams": true,
	"LogprobsLists": true, "LogprobsTensors": true, "SamplingMaskLists": true, "SchedulerStats": true,
}

// matchNames compares a value of the manifest with what is shown: the same
// names, and the same scalars below them.
func matchNames(t *testing.T, path string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			matchObject(t, path, w, g)
			return
		}
		matchTag(t, path, w, got)
	case []any:
		if object, named := got.(map[string]any); named {
			got = positions(object)
		}
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			t.Errorf("%s: want %v, got %v", path, want, got)
			return
		}
		for i := range w {
			matchNames(t, fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
		}
	case json.Number:
		g, ok := got.(json.Number)
		if x, err := w.Float64(); !ok || err != nil {
			t.Errorf("%s: want %v, got %v", path, want, got)
		} else if y, err := g.Float64(); err != nil || x != y {
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	default:
		if want != got {
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
}

func matchObject(t *testing.T, path string, want, got map[string]any) {
	t.Helper()
	for _, tag := range []string{"$tensor", "$ndarray"} {
		if tensor, ok := want[tag].(map[string]any); ok {
			if fmt.Sprint(tensor["shape"]) != fmt.Sprint(got["shape"]) || got["dtype"] == nil {
				t.Errorf("%s: want %v, got %v", path, tensor, got)
			}
			return
		}
	}
	if pairs, ok := want["$map"].([]any); ok {
		matchPairs(t, path, pairs, got)
		return
	}
	if want["$type"] == "UtilityResult" {
		want = map[string]any{"type_info": got["type_info"], "result": want["result"]}
	}
	if b, ok := want["$bin"]; ok {
		if got["bin"] != b {
			t.Errorf("%s: want %v, got %v", path, b, got)
		}
		return
	}
	for k, g := range got {
		switch w, ok := want[k]; {
		case ok:
			matchNames(t, path+"."+k, w, g)
		case want["$type"] != nil && k != "extra":
			t.Errorf("%s: %v has no %s", path, want["$type"], k)
		}
	}
	for k := range want {
		if _, ok := got[k]; !ok && k != "$type" && whole[want["$type"]] {
			t.Errorf("%s: %s is missing", path, k)
		}
	}
}

// matchPairs takes an object for pairs whose keys are strings on the wire: they
// are enum members for Python.
func matchPairs(t *testing.T, path string, want []any, got map[string]any) {
	t.Helper()
	pairs, ok := got["map"].([]any)
	for i, p := range want {
		w := p.([]any)
		switch key := fmt.Sprint(w[0]); {
		case ok && len(pairs) == len(want):
			matchNames(t, path+"."+key, p, pairs[i])
		case !ok && len(got) == len(want):
			matchNames(t, path+"."+key, w[1], got[key])
		default:
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
}

// positions undoes the names of a message that the manifest has as a list.
func positions(object map[string]any) any {
	for _, names := range [][]string{
		{"client_index", "call_id", "method", "args"}, {"counts", "wave", "running"}, {"waiting", "running", "kv_cache_usage"},
		{"waiting", "running"}, {"wave", "exclude"}, {"engine", "wave"}, {"mode", "query_key", "query_uses"},
	} {
		var list []any
		for _, name := range names {
			if x, ok := object[name]; ok {
				list = append(list, x)
			}
		}
		if len(list) == len(names) && len(list) == len(object) {
			return list
		}
	}
	return object
}

// matchTag compares what the manifest has as an object, and is none on the wire.
func matchTag(t *testing.T, path string, want map[string]any, got any) {
	t.Helper()
	list, _ := got.([]any)
	switch {
	case want["$int"] != nil:
		matchNames(t, path, json.Number(want["$int"].(string)), got)
	case want["$set"] != nil:
		matchNames(t, path, want["$set"], got)
	case want["$slice"] != nil:
		matchNames(t, path, want["$slice"], got)
	case want["$ints"] != nil:
		if n := want["$ints"].(map[string]any)["len"]; fmt.Sprint(n) != fmt.Sprint(len(list)) {
			t.Errorf("%s: want %v integers, got %d", path, n, len(list))
		}
	case strings.HasPrefix(fmt.Sprint(want["$type"]), "MultiModal") && len(list) == 2: // [kind, parameters]
		matchNames(t, path, want, list[1])
	case want["$type"] == "LoRARequest" && len(list) == len(want)-1: // an argument of add_lora
	default:
		t.Errorf("%s: want %v, got %.200v", path, want, got)
	}
}
