// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// released is one file of testdata/versions: three messages in the layout of a
// release, made from its own classes.
type released struct {
	Version string
	Add     struct {
		Values map[string]any
		Hex    string
	}
	AddPooling struct {
		Pooling map[string]any
		Hex     string
	} `json:"add_pooling"`
	Outputs struct {
		Values map[string]any
		Hex    string
	}
}

// gone are fields of old releases that we neither keep nor need: they are nil in
// every message of ours.
var gone = []string{
	"mm_inputs", "mm_kwargs", "mm_hashes", "mm_placeholders", "eos_token_id", "lora_request",
	"use_cross_encoder", "additional_data", "output_kind", "truncate_prompt_tokens", "normalize", "activation", "softmax",
}

func TestEveryReleaseBothWays(t *testing.T) {
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		t.Run(v.Version, func(t *testing.T) {
			for _, key := range gone {
				delete(v.Add.Values, key)
				delete(v.AddPooling.Pooling, key)
			}
			t.Run("add", func(t *testing.T) { requestBothWays(t, v.Version, v.Add.Hex, v.Add.Values, nil) })
			t.Run("pooling", func(t *testing.T) { requestBothWays(t, v.Version, v.AddPooling.Hex, nil, v.AddPooling.Pooling) })
			t.Run("outputs", func(t *testing.T) { outputsBothWays(t, v) })
		})
	}
}

func requestBothWays(t *testing.T, release, text string, values, pooling map[string]any) {
	l := layout(t, release)
	payload, err := hex.DecodeString(text)
	check(t, err)
	r, err := l.DecodeRequest([][]byte{payload})
	check(t, err)
	if values != nil {
		match(t, "request", values, reflect.ValueOf(r))
		if r.LoRA == nil || r.LoRA.Name != "ad" || r.LoRA.ID != 4 || r.LoRA.Path != "/l/ad" || r.LoRA.BaseModel != "base" {
			t.Errorf("lora: got %+v", r.LoRA)
		}
	} else {
		match(t, "pooling", pooling, reflect.ValueOf(r.Pooling))
	}
	b, _, err := l.AppendRequest(nil, nil, r)
	check(t, err)
	again, err := l.DecodeRequest([][]byte{b})
	check(t, err)
	if d := cmp.Diff(r, again); d != "" {
		t.Errorf("encoded and decoded again: %s", d)
	}
	if want, got := untyped(t, payload).([]any), untyped(t, b).([]any); len(want) != len(got) {
		t.Errorf("want %d elements, got %d", len(want), len(got))
	}
}

func outputsBothWays(t *testing.T, v released) {
	l := layout(t, v.Version)
	payload, err := hex.DecodeString(v.Outputs.Hex)
	check(t, err)
	o, err := l.DecodeOutputs([][]byte{payload})
	check(t, err)
	match(t, "outputs", map[string]any{"outputs": []any{v.Outputs.Values}}, reflect.ValueOf(o))
	if load, ok := o.Load(); !ok || load.Running != 6 || load.Waiting != 2 || load.KVUsage != 0.625 {
		t.Errorf("load: got %+v, %t", load, ok)
	}
	b, _, err := l.AppendOutputs(nil, nil, o)
	check(t, err)
	again, err := l.DecodeOutputs([][]byte{b})
	check(t, err)
	if len(again.Rows) != 1 {
		t.Fatalf("want one row, got %d", len(again.Rows))
	}
	want, err := o.Rows[0].Extra()
	check(t, err)
	got, err := again.Rows[0].Extra()
	check(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("encoded and decoded again: %s", d)
	}
}
