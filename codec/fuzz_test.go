// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"encoding/hex"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/corepipe/corepipe/codec"
)

// Every exported decoder has a target, and every target asks the same: no
// panic, memory in proportion to the input, and what was read can be written
// and read again as the same. Seeds are the messages of real vLLM.

// largest is the most bytes that a decoder allocates for each byte it reads, as
// DecodeValue's docs have it; slack is for errors and what small inputs cost.
const (
	largest = 80
	slack   = 16 << 10
)

func bounded(t *testing.T, n int, read func()) {
	t.Helper()
	if used := heap(read); used > uint64(largest*n+slack) && !raceEnabled {
		t.Errorf("%d bytes of input took %d bytes of memory", n, used)
	}
}

func seed(f *testing.F, kinds ...string) {
	f.Helper()
	for _, x := range fixtures(f, kinds...) {
		if len(x.payload) < 1<<11 {
			f.Add(x.payload)
		}
	}
}

// seedLayouts adds messages beside the number of their layout: the fixtures and
// what pick finds in the files of each release.
func seedLayouts(f *testing.F, pick func(v *released) []string, kinds ...string) []*codec.Layout {
	f.Helper()
	all := codec.Layouts()
	number := func(release string) uint { return uint(slices.Index(all, layout(f, release))) }
	for _, x := range fixtures(f, kinds...) {
		if len(x.payload) < 1<<11 {
			f.Add(number(x.release()), x.payload)
		}
	}
	files, err := filepath.Glob("testdata/versions/*.json")
	check(f, err)
	for _, file := range files {
		var v released
		readJSON(f, file, &v)
		for _, text := range pick(&v) {
			b, err := hex.DecodeString(text)
			check(f, err)
			f.Add(number(v.Version), b)
		}
	}
	return all
}

// sameAgain compares two readings; NaN equals itself here, but as a key it is
// never found again.
func sameAgain(t *testing.T, a, b any) {
	t.Helper()
	unfindable := cmp.FilterValues(func(a, b map[any]any) bool { return hasNaN(a) || hasNaN(b) },
		cmp.Comparer(func(a, b map[any]any) bool { return len(a) == len(b) }))
	if d := cmp.Diff(a, b, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmp.AllowUnexported(codec.CallID{}), unfindable); d != "" {
		t.Errorf("read again: %s", d)
	}
}

func hasNaN(m map[any]any) bool {
	for k := range m {
		if x, ok := k.(float64); ok && math.IsNaN(x) {
			return true
		}
	}
	return false
}

func FuzzDecodeRequest(f *testing.F) {
	all := seedLayouts(f, func(v *released) []string { return []string{v.Add.Hex, v.AddPooling.Hex} }, "request.add", "skew.request")
	aux := make([]byte, 256)
	f.Fuzz(func(t *testing.T, release uint, b []byte) {
		l := all[release%uint(len(all))]
		var r *codec.Request
		var err error
		bounded(t, len(b), func() { r, err = l.DecodeRequest([][]byte{b, aux, aux}) })
		if err != nil {
			return
		}
		_ = r.Validate()
		out, more, err := l.AppendRequest(nil, nil, r)
		if err != nil {
			return // it was read, and an engine would not survive it.
		}
		again, err := l.DecodeRequest(append([][]byte{out}, more...))
		if err != nil {
			t.Fatalf("%s: what was encoded is refused: %v", l.Since(), err)
		}
		sameAgain(t, r, again)
	})
}

func FuzzDecodeOutputs(f *testing.F) {
	all := seedLayouts(f, func(v *released) []string { return []string{v.Outputs.Hex} }, "output", "skew.output", "coordinator.engine_stats")
	aux := make([]byte, 256)
	f.Fuzz(func(t *testing.T, release uint, b []byte) {
		l := all[release%uint(len(all))]
		var o *codec.Outputs
		var err error
		bounded(t, len(b), func() { o, err = l.DecodeOutputs([][]byte{b, aux, aux, aux, aux}) })
		if err != nil {
			return
		}
		touch(o)
		out, more, err := l.AppendOutputs(nil, nil, o)
		if err != nil {
			return // rows that could not be read.
		}
		again, err := l.DecodeOutputs(append([][]byte{out}, more...))
		if err != nil {
			t.Fatalf("%s: what was encoded is refused: %v", l.Since(), err)
		}
		sameOutputs(t, o, again)
	})
}

func sameOutputs(t *testing.T, a, b *codec.Outputs) {
	t.Helper()
	if len(a.Rows) != len(b.Rows) || (a.Utility == nil) != (b.Utility == nil) {
		t.Fatalf("%d rows come back as %d", len(a.Rows), len(b.Rows))
	}
	for i := range a.Rows {
		x, y := &a.Rows[i], &b.Rows[i]
		sameAgain(t, [3]any{string(x.ID), x.Tokens, x.Finish}, [3]any{string(y.ID), y.Tokens, y.Finish})
		before, _ := x.Extra()
		after, err := y.Extra()
		check(t, err)
		sameAgain(t, before, after)
	}
	sameAgain(t, [6]any{a.Engine, a.Timestamp, a.Finished, a.WaveComplete, a.StartWave, a.WeightVersion},
		[6]any{b.Engine, b.Timestamp, b.Finished, b.WaveComplete, b.StartWave, b.WeightVersion})
	if before, err := a.Stats(); err == nil {
		after, err := b.Stats()
		check(t, err)
		sameAgain(t, before, after)
	}
	if a.Utility == nil {
		return
	}
	sameAgain(t, [2]any{a.Utility.CallID, a.Utility.Failure}, [2]any{b.Utility.CallID, b.Utility.Failure})
	if before, err := a.Utility.Result(); err == nil && !a.Utility.Failed() {
		after, err := b.Utility.Result()
		check(t, err)
		sameAgain(t, before, after)
		_, _ = a.Utility.Tensor(before)
	}
}

func FuzzLayoutOfOutputs(f *testing.F) {
	all := seedLayouts(f, func(v *released) []string { return []string{v.Outputs.Hex} }, "output", "skew.output")
	f.Fuzz(func(t *testing.T, _ uint, b []byte) {
		oldest, newest, ok := codec.LayoutOfOutputs(b)
		if ok != (oldest != nil) || ok && slices.Index(all, oldest) > slices.Index(all, newest) {
			t.Errorf("from %v to %v, %t", oldest, newest, ok)
		}
	})
}

func FuzzLayoutOf(f *testing.F) {
	for _, l := range codec.Layouts() {
		f.Add(l.Since())
	}
	f.Add("v0.31.0.dev12+g1234")
	f.Fuzz(func(t *testing.T, release string) {
		l, err := codec.LayoutOf(release)
		if err != nil {
			return
		}
		if same := layout(t, l.Since()); same != l {
			t.Errorf("%q has the layout since %s, and that release has another", release, l.Since())
		}
	})
}

func FuzzTensor(f *testing.F) {
	f.Add("bfloat16", uint8(2), uint8(3), make([]byte, 12))
	f.Add("bool", uint8(1), uint8(1), []byte{7})
	f.Fuzz(func(t *testing.T, dtype string, rows, columns uint8, data []byte) {
		x := &codec.Tensor{DType: dtype, Shape: []int{int(rows), int(columns)}, Data: data}
		bounded(t, len(data), func() {
			floats, err := x.Floats()
			if err == nil && len(floats) > len(data) {
				t.Errorf("%d floats of %d bytes", len(floats), len(data))
			}
			ints, err := x.Ints()
			if err == nil && len(ints) > len(data) {
				t.Errorf("%d integers of %d bytes", len(ints), len(data))
			}
		})
	})
}
