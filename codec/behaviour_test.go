// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

func TestWhatReleasesDoDifferently(t *testing.T) {
	for release, want := range map[string][3]bool{ // first request, empty ready message, KV usage in counts
		"0.9.2": {true, true, false}, "0.19.1": {true, true, false}, "0.20.0": {true, false, false}, "0.28.0": {true, false, false},
		"0.29.0": {true, false, true}, "0.32.0": {true, false, true}, "0.32.9": {true, false, true}, "0.33.0": {false, false, true},
	} {
		l := layout(t, release)
		if got := [3]bool{l.FirstRequest(), l.EmptyReady(), l.ReportsKVUsage()}; got != want {
			t.Errorf("%s: want %v, got %v", release, want, got)
		}
	}
}

func TestCountsHaveTheRowsOfTheRelease(t *testing.T) {
	p := &codec.Counts{Rows: []codec.CountsRow{{Waiting: 1, Running: 2, KVUsage: 0.5}, {Waiting: 300}}, Wave: 4, Running: true}
	pairs := *p
	pairs.Rows = []codec.CountsRow{{Waiting: 1, Running: 2}, {Waiting: 300}}
	for release, c := range map[string]struct {
		width int
		want  *codec.Counts
	}{"0.19.1": {2, &pairs}, "0.28.0": {2, &pairs}, "0.29.0": {3, p}, "0.33.0": {3, p}} {
		b := layout(t, release).AppendCounts([]byte("x"), p)[1:]
		if row := untyped(t, b).([]any)[0].([]any)[0].([]any); len(row) != c.width {
			t.Errorf("%s: got a row of %d", release, len(row))
		}
		got, err := codec.DecodeCounts(b)
		check(t, err)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", release, d)
		}
	}
	for _, b := range [][]byte{layout(t, "0.20.0").AppendCounts(nil, &codec.Counts{}), codec.AppendCounts(nil, &codec.Counts{})} {
		if string(b) != "\x93\xc0\x00\xc2" {
			t.Errorf("no rows: got % x", b)
		}
	}
}

func TestAdaptersInCallsHaveTheFormOfTheRelease(t *testing.T) {
	a := codec.LoRARequest{Name: "a", ID: 3, Path: "/p", BaseModel: "b"}
	in := a
	in.InPlace = true
	short, old := []any{"a", int64(3), "/p", "b"}, []any{"a", int64(3), "/p", nil, nil, "b", nil}
	for _, c := range []struct {
		release string
		arg     any
		want    any
	}{
		{"0.9.2", a, old},
		{"0.11.1", &a, old},
		{"0.14.0", a, short},
		{"0.29.0", &a, short},
		{"0.29.0", in, []any{"a", int64(3), "/p", "b", nil, true, false}},
		{"0.32.0", &in, []any{"a", int64(3), "/p", "b", true, false}},
		{"0.32.0", (*codec.LoRARequest)(nil), nil},
	} {
		args := []any{"first", c.arg}
		got, err := layout(t, c.release).CallArgs("add_lora", args)
		check(t, err)
		if d := cmp.Diff([]any{"first", c.want}, got); d != "" {
			t.Errorf("%s: %s", c.release, d)
		}
		if d := cmp.Diff([]any{"first", c.arg}, args); d != "" {
			t.Errorf("%s: the caller's arguments were changed: %s", c.release, d)
		}
		if _, err := codec.AppendUtility(nil, &codec.UtilityCall{Method: "add_lora", Args: got}); err != nil {
			t.Errorf("%s: %v", c.release, err)
		}
	}
	_, err := layout(t, "0.14.0").CallArgs("add_lora", []any{in})
	var typed *codec.FieldError
	if !errors.Is(err, codec.ErrUnsupported) || !errors.As(err, &typed) || typed.Message != "utility" || typed.Field != "add_lora: args[0].load_inplace" ||
		!strings.Contains(err.Error(), "since 0.15.0") {
		t.Errorf("an adapter in place: got %v", err)
	}
}

func TestProfileTakesTheArgumentsOfTheRelease(t *testing.T) {
	all := []any{true, "prefix", 3, 4, map[string]any{"a": 1}}
	for release, most := range map[string]int{
		"0.9.2": 1, "0.18.0": 1, "0.19.1": 2, "0.29.0": 2, "0.30.0": 2, "0.31.0": 2, "0.32.0": 4, "0.33.0": 5, "0.99.0": 5,
	} {
		l := layout(t, release)
		for n := range len(all) + 1 {
			args := append(append([]any{}, all[:n]...), make([]any, 5-n)...)
			before := append([]any{}, args...)
			got, err := l.CallArgs("profile", args)
			if d := cmp.Diff(before, args); d != "" {
				t.Errorf("%s: the caller's arguments were changed: %s", release, d)
			}
			if n > most {
				if !errors.Is(err, codec.ErrUnsupported) || !strings.Contains(err.Error(), "since 0.") {
					t.Errorf("%s with %d: got %v, %v", release, n, got, err)
				}
				continue
			}
			check(t, err)
			if d := cmp.Diff(all[:n], got); d != "" {
				t.Errorf("%s with %d: %s", release, n, d)
			}
		}
	}
	if _, err := layout(t, "0.33.0").CallArgs("profile", append(all, 1)); !errors.Is(err, codec.ErrUnsupported) {
		t.Errorf("six arguments: got %v", err)
	}
}

func TestOtherCallsPassAsTheyAre(t *testing.T) {
	for _, args := range [][]any{nil, {}, {1, nil}, {"a", []any{nil}, nil, nil, nil, nil}} {
		got, err := layout(t, "0.9.2").CallArgs("anything", args)
		check(t, err)
		if d := cmp.Diff(args, got); d != "" {
			t.Error(d)
		}
	}
}
