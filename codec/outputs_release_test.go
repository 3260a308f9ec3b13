// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

// nestedRow is an output of 0.9.2 with logprobs.
func nestedRow(logprobs []byte) []byte {
	fields := append([][]byte{str("r"), {0x91, 42}, logprobs}, nils(7)...)
	fields[9] = []byte{0}
	return arr([]byte{0}, arr(arr(fields...)), []byte{0xc0}, []byte{1}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0}, []byte{0xc0})
}

func TestLogprobsInListsBecomeTensorsAndListsAgain(t *testing.T) {
	for _, release := range []string{"0.9.2", "0.10.1", "0.11.0"} {
		l := layout(t, release)
		o := codec.Outputs{Rows: []codec.Output{{ID: []byte("r"), Tokens: []uint32{42, 43}}}}
		ids := codec.Int64Tensor([]int{2, 2}, []int64{42, 7, 43, 70000})
		ranks := &codec.Tensor{DType: "int32", Shape: []int{2}, Data: []byte{1, 0, 0, 0, 9, 0, 0, 0}}
		o.Rows[0].SetExtra(&codec.Extra{Logprobs: &codec.Logprobs{
			TokenIDs: ids, Logprobs: codec.Float32Tensor([]int{2, 2}, []float32{-0.5, -1, -2, -3.25}), Ranks: ranks,
		}})
		b, aux, err := l.AppendOutputs(nil, nil, &o)
		check(t, err)
		want := []any{
			[]any{[]any{int64(42), int64(7)}, []any{int64(43), int64(70000)}},
			[]any{[]any{-0.5, -1.0}, []any{-2.0, -3.25}},
			[]any{int64(1), int64(9)},
		}
		row := untyped(t, b).([]any)[1].([]any)[0].([]any)
		if d := cmp.Diff(want, row[2]); d != "" || len(aux) != 0 {
			t.Errorf("%s: on the wire: %s", release, d)
		}
		again, err := l.DecodeOutputs([][]byte{b})
		check(t, err)
		x, err := again.Rows[0].Extra()
		check(t, err)
		probs, err := x.Logprobs.Logprobs.Floats()
		check(t, err)
		tokens, err := x.Logprobs.TokenIDs.Ints()
		check(t, err)
		places, err := x.Logprobs.Ranks.Ints()
		check(t, err)
		if d := cmp.Diff([]any{[]float64{-0.5, -1, -2, -3.25}, []int64{42, 7, 43, 70000}, []int64{1, 9}, []int{2, 2}},
			[]any{probs, tokens, places, x.Logprobs.TokenIDs.Shape}); d != "" {
			t.Errorf("%s: read: %s", release, d)
		}
	}
}

func TestLogprobsInListsOfNoShapeSpoilTheirRow(t *testing.T) {
	l := layout(t, "0.9.2")
	for name, v := range map[string]any{
		"two lists":          []any{[]any{[]any{1}}, []any{[]any{1.5}}},
		"a missing column":   []any{[]any{[]any{1, 2}, []any{3}}, []any{[]any{1.5, 2.5}, []any{1.5, 2.5}}, []any{1, 1}},
		"rows of two widths": []any{[]any{[]any{1, 2}, []any{3}}, []any{[]any{1.5, 2.5}, []any{1.5}}, []any{1, 1}},
		"a missing row":      []any{[]any{[]any{1}, []any{2}}, []any{[]any{1.5}}, []any{1, 1}},
		"a missing rank":     []any{[]any{[]any{1}, []any{2}}, []any{[]any{1.5}, []any{1.5}}, []any{1}},
		"no columns":         []any{[]any{[]any{}}, []any{[]any{}}, []any{1}},
		"a float for an id":  []any{[]any{[]any{1.5}}, []any{[]any{1.5}}, []any{1}},
		"a tensor":           []any{[]any{"<i8", []any{1, 1}, []byte("12345678")}, nil, nil},
		"no lists":           []any{1, 2, 3},
	} {
		o, err := l.DecodeOutputs([][]byte{nestedRow(val(t, v))})
		check(t, err)
		if x, err := o.Rows[0].Extra(); err == nil {
			t.Errorf("%s: read as %+v", name, x.Logprobs)
		}
	}
	o, err := l.DecodeOutputs([][]byte{nestedRow(val(t, []any{[]any{}, []any{}, []any{}}))})
	check(t, err)
	if x, err := o.Rows[0].Extra(); err != nil || x.Logprobs.TokenIDs.Shape[0] != 0 {
		t.Errorf("no positions: got %+v, %v", x.Logprobs, err)
	}
}

func TestLogprobsThatAreNoNumbersAreRefusedAsLists(t *testing.T) {
	ids, probs, ranks := codec.Int64Tensor([]int{1, 1}, []int64{1}), codec.Float32Tensor([]int{1, 1}, []float32{1}), codec.Int64Tensor([]int{1}, []int64{1})
	for name, p := range map[string]codec.Logprobs{
		"floats for ids":        {TokenIDs: probs, Logprobs: probs, Ranks: ranks},
		"integers for logprobs": {TokenIDs: ids, Logprobs: ids, Ranks: ranks},
		"nothing":               {},
		"data that is short":    {TokenIDs: &codec.Tensor{DType: "int64", Shape: []int{1, 1}}, Logprobs: probs, Ranks: ranks},
	} {
		o := codec.Outputs{Rows: []codec.Output{{ID: []byte("r")}}}
		o.Rows[0].SetExtra(&codec.Extra{Logprobs: &p})
		if _, _, err := layout(t, "0.9.2").AppendOutputs(nil, nil, &o); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func TestFinishReasonsThatAReleaseLacksBecomeTheNearest(t *testing.T) {
	for _, c := range []struct {
		release    string
		sent, read codec.FinishReason
	}{
		{"0.12.0", codec.FinishError, codec.FinishAbort},
		{"0.12.0", codec.FinishRepetition, codec.FinishStop},
		{"0.12.0", codec.FinishAbort, codec.FinishAbort},
		{"0.13.0", codec.FinishError, codec.FinishError},
		{"0.16.0", codec.FinishRepetition, codec.FinishStop},
		{"0.17.0", codec.FinishRepetition, codec.FinishRepetition},
	} {
		l := layout(t, c.release)
		o, err := l.DecodeOutputs([][]byte{written(t, c.release, codec.Output{ID: []byte("r"), Finish: c.sent})})
		check(t, err)
		if got := o.Rows[0].Finish; got != c.read {
			t.Errorf("%s: %s is sent as %s", c.release, c.sent, got)
		}
	}
}

func TestStatisticsHaveTheKeysOfTheRelease(t *testing.T) {
	s := codec.SchedulerStats{NumRunning: 1, NumWaiting: 2, KVCacheUsage: 0.5, NumCorrupted: 3, EncoderCacheUsage: 0.25, NumSkippedWaiting: 4}
	for release, c := range map[string]struct {
		keys               int
		corrupted, skipped int
		encoder            float64
	}{"0.9.2": {6, 3, 0, 0}, "0.10.1": {8, 3, 0, 0}, "0.11.1": {11, 0, 0, 0}, "0.16.0": {15, 0, 0, 0.25}, "0.20.0": {15, 0, 4, 0}, "0.32.0": {18, 0, 4, 0}} {
		l := layout(t, release)
		o := &codec.Outputs{}
		o.SetStats(&s)
		b, _, err := l.AppendOutputs(nil, nil, o)
		check(t, err)
		if m := untyped(t, b).([]any)[2].(map[string]any); len(m) != c.keys {
			t.Errorf("%s: want %d keys, got %v", release, c.keys, m)
		}
		again, err := l.DecodeOutputs([][]byte{b})
		check(t, err)
		got, err := again.Stats()
		check(t, err)
		if got.NumCorrupted != c.corrupted || got.EncoderCacheUsage != c.encoder || got.NumSkippedWaiting != c.skipped || got.NumRunning != 1 || got.KVCacheUsage != 0.5 {
			t.Errorf("%s: got %+v", release, got)
		}
	}
}

func TestPrefillStatsHaveTheFormOfTheRelease(t *testing.T) {
	p := codec.PrefillStats{NumPromptTokens: 9, NumComputedTokens: 4, NumCachedTokens: 5, NumLocalCachedTokens: 3, NumExternalCachedTokens: 2, NumCacheCreationTokens: 1}
	older := p
	older.NumCacheCreationTokens = 0
	for release, want := range map[string]codec.Extra{
		"0.9.2": {NumCachedTokens: 5}, "0.16.0": {NumCachedTokens: 5, NumExternalComputedTokens: 2},
		"0.20.0": {PrefillStats: &older}, "0.22.0": {PrefillStats: &older}, "0.26.0": {PrefillStats: &p}, "0.33.0": {PrefillStats: &p},
	} {
		row := codec.Output{ID: []byte("r")}
		row.SetExtra(&codec.Extra{PrefillStats: &p})
		o, err := layout(t, release).DecodeOutputs([][]byte{written(t, release, row)})
		check(t, err)
		x, err := o.Rows[0].Extra()
		check(t, err)
		if d := cmp.Diff(want, x); d != "" {
			t.Errorf("%s: %s", release, d)
		}
	}
}
