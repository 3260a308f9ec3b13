// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/corepipe/corepipe/codec"
)

// Every target asks the same: no panic, and what was read can be written and
// read again as the same. Seeds are the messages of real vLLM.

func seed(f *testing.F, kinds ...string) {
	f.Helper()
	for _, x := range fixtures(f, kinds...) {
		if len(x.payload) < 1<<11 {
			f.Add(x.payload)
		}
	}
}

// sameAgain compares two readings; NaN equals itself here.
func sameAgain(t *testing.T, a, b any) {
	t.Helper()
	if d := cmp.Diff(a, b, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmp.AllowUnexported(codec.CallID{})); d != "" {
		t.Errorf("read again: %s", d)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	seed(f, "request.add")
	l := layout(f, codec.DefaultRelease)
	aux := make([]byte, 256)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := l.DecodeRequest([][]byte{b, aux, aux})
		if err != nil {
			return
		}
		_ = r.Validate()
		out, more, err := l.AppendRequest(nil, nil, r)
		if err != nil {
			return
		}
		again, err := l.DecodeRequest(append([][]byte{out}, more...))
		if err != nil {
			t.Fatalf("what was encoded is refused: %v", err)
		}
		sameAgain(t, r, again)
	})
}

func FuzzDecodeOutputs(f *testing.F) {
	seed(f, "output", "skew.output", "coordinator.engine_stats")
	aux := make([]byte, 256)
	l, old := layout(f, codec.DefaultRelease), layout(f, "0.9.2")
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := old.DecodeOutputs([][]byte{b}); err == nil {
			touch(o)
		}
		o, err := l.DecodeOutputs([][]byte{b, aux, aux, aux, aux})
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
			t.Fatalf("what was encoded is refused: %v", err)
		}
		for i := range o.Rows {
			x, _ := o.Rows[i].Extra()
			y, err := again.Rows[i].Extra()
			check(t, err)
			sameAgain(t, x, y)
			sameAgain(t, o.Rows[i].Tokens, again.Rows[i].Tokens)
			sameAgain(t, [2]any{string(o.Rows[i].ID), o.Rows[i].Finish}, [2]any{string(again.Rows[i].ID), again.Rows[i].Finish})
		}
	})
}

func FuzzDecodeReady(f *testing.F) {
	seed(f, "ready")
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := codec.DecodeReady(b)
		if err != nil || r == nil {
			return
		}
		out, err := codec.AppendReady(nil, r)
		check(t, err)
		again, err := codec.DecodeReady(out)
		check(t, err)
		sameAgain(t, r, again)
	})
}

func FuzzDecodeHandshake(f *testing.F) {
	seed(f, "handshake")
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := codec.DecodeHandshake(b); err == nil {
			out, err := codec.AppendHandshake(nil, h)
			check(t, err)
			again, err := codec.DecodeHandshake(out)
			check(t, err)
			sameAgain(t, h, again)
		}
		if i, err := codec.DecodeInit(b); err == nil {
			out, err := codec.AppendInit(nil, i)
			check(t, err)
			again, err := codec.DecodeInit(out)
			check(t, err)
			sameAgain(t, i, again)
		}
	})
}

func FuzzDecodeUtility(f *testing.F) {
	seed(f, "request.utility", "request.abort", "coordinator.")
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, err := codec.DecodeUtility(b); err == nil && u.Method != "" && u.ClientIndex >= 0 {
			out, err := codec.AppendUtility(nil, u)
			check(t, err)
			again, err := codec.DecodeUtility(out)
			check(t, err)
			sameAgain(t, u, again)
		}
		if ids, err := codec.DecodeAbort(b); err == nil {
			again, err := codec.DecodeAbort(codec.AppendAbort(nil, ids...))
			check(t, err)
			sameAgain(t, ids, again)
		}
		if w, x, err := codec.DecodeStartWave(b); err == nil {
			v, y, err := codec.DecodeStartWave(codec.AppendStartWave(nil, w, x))
			check(t, err)
			sameAgain(t, [2]any{w, x}, [2]any{v, y})
		}
		if p, err := codec.DecodeCounts(b); err == nil {
			again, err := codec.DecodeCounts(codec.AppendCounts(nil, p))
			check(t, err)
			sameAgain(t, p, again)
		}
		if c, err := codec.DecodeCoordinatorCall(b); err == nil {
			again, err := codec.DecodeCoordinatorCall(codec.AppendCoordinatorCall(nil, c))
			check(t, err)
			sameAgain(t, c, again)
		}
	})
}

func FuzzValue(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := codec.DecodeValue(b)
		if err != nil {
			return
		}
		out, err := codec.AppendValue(nil, v)
		if err != nil {
			t.Fatalf("%T cannot be written again: %v", v, err)
		}
		again, err := codec.DecodeValue(out)
		check(t, err)
		if !mixed(v) { // NaN as a key is never found again.
			sameAgain(t, v, again)
		}
	})
}

func mixed(v any) bool {
	switch v := v.(type) {
	case map[any]any:
		return true
	case map[string]any:
		for _, x := range v {
			if mixed(x) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, mixed)
	}
	return false
}
