// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

func TestWholeNumbersOfJSONBecomeIntegers(t *testing.T) {
	const text = `{"port":5000,"ratio":0.5,"list":[1,2.5,-3,{"deep":1e3}],"big":9007199254740992,"none":null,"word":"5"}`
	want := map[string]any{
		"port": int64(5000), "ratio": 0.5, "list": []any{int64(1), 2.5, int64(-3), map[string]any{"deep": int64(1000)}},
		"big": 9007199254740992.0, "none": nil, "word": "5",
	}
	var v any
	check(t, json.Unmarshal([]byte(text), &v))
	before := v.(map[string]any)["port"]
	if d := cmp.Diff(want, codec.FromJSON(v)); d != "" || before != 5000.0 || v.(map[string]any)["port"] != 5000.0 {
		t.Errorf("floats: %s", d)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	check(t, dec.Decode(&v))
	want["big"] = int64(9007199254740992)
	if d := cmp.Diff(want, codec.FromJSON(v)); d != "" {
		t.Errorf("numbers: %s", d)
	}
	for _, same := range []any{nil, true, "a", int64(5), math.Inf(1), json.Number("x"), []byte{1}, []any(nil), map[string]any(nil)} {
		if d := cmp.Diff(same, codec.FromJSON(same)); d != "" {
			t.Errorf("%v: %s", same, d)
		}
	}
	if v := codec.FromJSON(math.NaN()).(float64); !math.IsNaN(v) {
		t.Errorf("NaN becomes %v", v)
	}
}

func TestWholeFloatsAreIntegersInASchemaAlone(t *testing.T) {
	r := valid()
	r.Sampling.StructuredOutputs = &codec.StructuredOutputs{JSON: map[string]any{"maxItems": 5.0, "minimum": 0.5}}
	r.Sampling.ExtraArgs = map[string]any{"weight": 5.0}
	check(t, r.Validate())
	b, _, err := layout(t, codec.DefaultRelease).AppendRequest(nil, nil, r)
	check(t, err)
	keys := untyped(t, b).([]any)[3].(map[string]any)
	got := []any{keys["structured_outputs"].(map[string]any)["json"], keys["extra_args"]}
	if d := cmp.Diff([]any{map[string]any{"maxItems": int64(5), "minimum": 0.5}, map[string]any{"weight": 5.0}}, got); d != "" {
		t.Error(d)
	}
	if _, err := codec.AppendUtility(nil, &codec.UtilityCall{Method: "m", Args: []any{[]any{json.Number("1")}}}); err == nil {
		t.Error("a number travels as text")
	}
}
