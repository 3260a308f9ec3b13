// SPDX-License-Identifier: Apache-2.0

package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
)

func TestADetachedOutputIsWhatItWasWithoutItsMessage(t *testing.T) {
	l, err := codec.LayoutOf(codec.DefaultRelease)
	if err != nil {
		t.Fatal(err)
	}
	o := codec.Output{ID: []byte("r"), Tokens: []uint32{1, 70000}, Finish: codec.FinishStop}
	want := codec.Extra{
		StopReason: "end", NumNaNs: 3, TraceHeaders: map[string]string{"a": "b"},
		Pooling:       &codec.Tensor{DType: "float32", Shape: []int{100}, Data: make([]byte, 400)}, // a frame of its own
		RoutedExperts: &codec.Tensor{DType: "uint8", Shape: []int{1, 1, 3}, Data: []byte{1, 2, 3}, NumPy: true},
	}
	o.SetExtra(&want)
	b, aux, err := l.AppendOutputs(nil, nil, &codec.Outputs{Rows: []codec.Output{o, o}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.DecodeOutputs(append([][]byte{b}, aux...))
	if err != nil {
		t.Fatal(err)
	}
	row := got.Rows[1]
	row.Detach()
	for i := range b {
		b[i] = 0xc1
	}
	x, err := row.Extra()
	if err != nil || string(row.ID) != "r" || row.Tokens[1] != 70000 {
		t.Fatalf("got %v, %v", row, err)
	}
	if d := cmp.Diff(want, x); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
