// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

func TestStructuredOutputsHaveTheNameOfTheRelease(t *testing.T) {
	for release, at := range map[string]int{"0.9.2": 5, "0.10.2": 3, "0.11.0": 3, "0.11.1": 3, "0.12.0": 3, "0.32.0": 3} {
		r := valid()
		r.Sampling.StructuredOutputs = &codec.StructuredOutputs{Choice: []string{"a", "b"}, Backend: "guidance", BackendWasAuto: true}
		b, _, err := layout(t, release).AppendRequest(nil, nil, r)
		check(t, err)
		name, other, backend := "structured_outputs", "guided_decoding", "_backend"
		if !had(t, release, "0.11.1") {
			name, other, backend = other, name, "backend"
		}
		want := map[string]any{
			"json": nil, "regex": nil, "choice": []any{"a", "b"}, "grammar": nil, "json_object": nil, "disable_any_whitespace": false,
			"disable_additional_properties": false, "whitespace_pattern": nil, "structural_tag": nil,
			backend: "guidance", backend + "_was_auto": true,
		}
		keys := untyped(t, b).([]any)[at].(map[string]any)
		if d := cmp.Diff(want, keys[name]); d != "" || keys[other] != nil {
			t.Errorf("%s: got %v: %s", release, keys, d)
		}
	}
}

func TestGuidedDecodingIsReadWhereItExists(t *testing.T) {
	guided := map[string]any{"regex": "a", "backend": "xgrammar", "disable_fallback": true, "backend_was_auto": true}
	newer := map[string]any{"regex": "b"}
	for _, c := range []struct {
		release, regex string
		sampling       map[string]any
	}{
		{"0.9.2", "a", map[string]any{"guided_decoding": guided}},
		{"0.9.2", "a", map[string]any{"guided_decoding": guided, "structured_outputs": newer}},
		{"0.11.1", "a", map[string]any{"guided_decoding": guided}},
		{"0.11.1", "b", map[string]any{"guided_decoding": guided, "structured_outputs": newer}},
		{"0.12.0", "b", map[string]any{"guided_decoding": guided, "structured_outputs": newer}},
		{"0.12.0", "", map[string]any{"guided_decoding": guided}},
	} {
		l := layout(t, c.release)
		b, _, err := l.AppendRequest(nil, nil, valid())
		check(t, err)
		fields := untyped(t, b).([]any)
		for i, f := range fields {
			if m, ok := f.(map[string]any); ok && m["max_tokens"] != nil {
				fields[i] = c.sampling
			}
		}
		for range 20 { // in either order of the keys
			guidedAs(t, l, val(t, fields), c.regex)
		}
	}
}

func guidedAs(t *testing.T, l *codec.Layout, payload []byte, want string) {
	t.Helper()
	r, err := l.DecodeRequest([][]byte{payload})
	check(t, err)
	got := ""
	if o := r.Sampling.StructuredOutputs; o != nil {
		got = o.Regex
		if got == "a" && (o.Backend != "xgrammar" || !o.BackendWasAuto) {
			t.Errorf("%s: got %+v", l.Since(), o)
		}
	}
	if got != want {
		t.Errorf("%s: want %q, got %q", l.Since(), want, got)
	}
}

func TestActivationHasTheNameOfTheReleaseAndTask(t *testing.T) {
	for _, c := range []struct {
		release, task string
		at            int
		want          []any // what is not nil and not of another field, by position.
	}{
		{"0.10.1", codec.TaskEmbed, 1, []any{true, nil, nil}},
		{"0.10.1", codec.TaskClassify, 1, []any{nil, true, nil}},
		{"0.10.1", "encode", 1, []any{nil, nil, true}},
		{"0.10.1", "", 1, []any{true, true, true}},
		{"0.11.1", codec.TaskEmbed, 2, []any{true, nil, nil, true}},
		{"0.11.1", codec.TaskTokenEmbed, 2, []any{true, nil, nil, true}},
		{"0.11.1", codec.TaskClassify, 2, []any{nil, nil, nil, true}},
		{"0.16.0", codec.TaskEmbed, 1, []any{true}},
		{"0.32.0", codec.TaskClassify, 0, []any{true}},
	} {
		l := layout(t, c.release)
		r := valid()
		r.Sampling, r.Pooling = nil, &codec.PoolingParams{Task: c.task, UseActivation: new(true)}
		b, _, err := l.AppendRequest(nil, nil, r)
		check(t, err)
		for _, f := range untyped(t, b).([]any)[3:7] {
			if p, ok := f.([]any); ok {
				if d := cmp.Diff(c.want, p[c.at:c.at+len(c.want)]); d != "" {
					t.Errorf("%s, %s: %s", c.release, c.task, d)
				}
			}
		}
		again, err := l.DecodeRequest([][]byte{b})
		check(t, err)
		sent(t, r, c.release)
		if d := cmp.Diff(r, again); d != "" {
			t.Errorf("%s, %s: %s", c.release, c.task, d)
		}
	}
}

func TestImagesOfOldReleasesAreNotReadOver(t *testing.T) {
	for _, release := range []string{"0.9.2", "0.10.1"} {
		l := layout(t, release)
		b, _, err := l.AppendRequest(nil, nil, valid())
		check(t, err)
		fields := untyped(t, b).([]any)
		fields[2] = []any{map[string]any{"image": 1}}
		if _, err := l.DecodeRequest([][]byte{val(t, fields)}); err == nil {
			t.Errorf("%s: read without its image", release)
		}
		fields[2] = []any{}
		if _, err := l.DecodeRequest([][]byte{val(t, fields)}); err != nil {
			t.Errorf("%s without images: %v", release, err)
		}
	}
}

func TestSkippingThePrefixCacheIsNeverNilWhereItMayNot(t *testing.T) {
	for task, want := range map[string]bool{codec.TaskEmbed: false, codec.TaskClassify: false, codec.TaskTokenEmbed: true, codec.TaskTokenClassify: true, "": false} {
		r := valid()
		r.Sampling, r.Pooling = nil, &codec.PoolingParams{Task: task}
		for release, at := range map[string]any{"0.11.1": want, "0.12.0": nil} {
			b, _, err := layout(t, release).AppendRequest(nil, nil, r)
			check(t, err)
			if got := untyped(t, b).([]any)[4].([]any)[10]; got != at {
				t.Errorf("%s, task %q: got %v, want %v", release, task, got, at)
			}
		}
	}
}
