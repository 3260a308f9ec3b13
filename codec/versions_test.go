// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// gone are fields of old releases that no struct of ours has by that name. What
// they come to in the bytes is seen by sameButFor.
var gone = []string{
	"mm_inputs", "mm_kwargs", "mm_hashes", "mm_placeholders", "use_cross_encoder", "additional_data", "truncate_prompt_tokens", // always nil
	"eos_token_id", // kept in the sampling parameters, see renamed
	"lora_request", // the manifest has a list
	"output_kind",  // has one value
}

func TestEveryReleaseBothWays(t *testing.T) {
	files, err := filepath.Glob("testdata/versions/*.json")
	check(t, err)
	for _, file := range files {
		var v released
		readJSON(t, file, &v)
		t.Run(v.Version, func(t *testing.T) {
			renamed(v.Add.Values, v.AddPooling.Pooling)
			for _, key := range gone {
				delete(v.Add.Values, key)
				delete(v.AddPooling.Pooling, key)
			}
			t.Run("add", func(t *testing.T) { requestBothWays(t, v, v.Add.Hex, v.Add.Values) })
			t.Run("pooling", func(t *testing.T) { requestBothWays(t, v, v.AddPooling.Hex, nil) })
			t.Run("outputs", func(t *testing.T) { outputsBothWays(t, v) })
		})
	}
}

// renamed says under the names of today where an answer ends, and what pooling
// parameters ask of a head.
func renamed(add, pooling map[string]any) {
	if eos, ok := add["eos_token_id"]; ok {
		add["sampling_params"].(map[string]any)["_eos_token_id"] = eos
	}
	for _, old := range []string{"normalize", "activation", "softmax"} {
		if v, ok := pooling[old]; ok && v != nil {
			pooling["use_activation"] = v
		}
		delete(pooling, old)
	}
}

func requestBothWays(t *testing.T, v released, text string, values map[string]any) {
	l := layout(t, v.Version)
	payload, err := hex.DecodeString(text)
	check(t, err)
	r, err := l.DecodeRequest([][]byte{payload})
	check(t, err)
	message := "add"
	if values != nil {
		match(t, "request", values, reflect.ValueOf(r))
		if r.LoRA == nil || r.LoRA.Name != "ad" || r.LoRA.ID != 4 || r.LoRA.Path != "/l/ad" || r.LoRA.BaseModel != "base" {
			t.Errorf("lora: got %+v", r.LoRA)
		}
	} else {
		message = "pooling"
		match(t, "pooling", v.AddPooling.Pooling, reflect.ValueOf(r.Pooling))
	}
	b, _, err := l.AppendRequest(nil, nil, r)
	check(t, err)
	again, err := l.DecodeRequest([][]byte{b})
	check(t, err)
	if d := cmp.Diff(r, again); d != "" {
		t.Errorf("encoded and decoded again: %s", d)
	}
	sameButFor(t, message, v.Version, payload, b)
}

// unset are the places where the bytes of some releases differ from ours, by
// message and path in it, and why.
var unset = []struct{ message, path, releases, why string }{
	{"add", "[9][3]", "0.9.2 0.10.0", "lora_local_path, an old name of lora_path, is nil and not empty"},
	{"add", "[7][3]", "0.10.2 0.11.1", "the same, the adapter two places earlier"},
	{"add", "[7][4]", "0.14.0", "tensorizer_config_dict is cut off: four elements mean the same to all releases"},
	{"pooling", "[7]", "0.9.2 0.10.0", "nothing is generated, so there is no end token"},
	{"pooling", "[5]", "0.10.2 0.11.1 0.14.0 0.16.0", "the same, two places earlier"},
	{"outputs", "[1][0][11].num_cache_creation_tokens", "0.26.0 0.28.0 0.31.0 0.32.0 0.33.0", "a counter of 0 that the file's maker left out"},
}

// sameButFor compares two messages without any knowledge of them, but for what
// unset lists, all of which must be there.
func sameButFor(t *testing.T, message, release string, payload, ours []byte) {
	t.Helper()
	met := map[string]bool{}
	ignored := cmp.FilterPath(func(p cmp.Path) bool {
		at := place(p)
		for _, u := range unset {
			if u.message == message && u.path == at && slices.Contains(strings.Fields(u.releases), release) {
				met[at] = true
				return true
			}
		}
		return false
	}, cmp.Ignore())
	if diff := cmp.Diff(untyped(t, payload), untyped(t, ours), ignored); diff != "" {
		t.Errorf("the release's own bytes (-), ours (+): %s", diff)
	}
	for _, u := range unset {
		if u.message == message && !met[u.path] && slices.Contains(strings.Fields(u.releases), release) {
			t.Errorf("%s is the same: it need not be listed", u.path)
		}
	}
}

// place gives a path in lists and maps: "[1][0].key".
func place(p cmp.Path) string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case cmp.SliceIndex:
			i, j := s.SplitKeys()
			fmt.Fprintf(&b, "[%d]", max(i, j))
		case cmp.MapIndex:
			fmt.Fprintf(&b, ".%v", s.Key())
		}
	}
	return b.String()
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
	sameButFor(t, "outputs", v.Version, payload, b)
}
