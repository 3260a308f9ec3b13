// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// Whatever comes in whatever order, every request gets exactly its tokens, or
// nothing more after its abort, and the bounds hold at every step.
func TestSimKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &engine.Sim{
			MaxBatch: rapid.IntRange(1, 5).Draw(t, "batch"),
			KVTokens: rapid.SampledFrom([]int{0, 30, 60}).Draw(t, "kv"),
			StepTime: time.Millisecond,
		}
		left := map[string][]uint32{} // tokens still to come
		added := 0
		steps := func() {
			o, _ := s.Step(0)
			if o == nil {
				if len(left) > 0 {
					t.Fatalf("nothing to do, but %d are left", len(left))
				}
				return
			}
			check(t, s, o, left)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				r := generate(fmt.Sprintf("r%d", added), rapid.IntRange(1, 12).Draw(t, "tokens"), slices.Repeat([]uint32{7}, rapid.IntRange(1, 18).Draw(t, "prompt"))...)
				added++
				left[r.ID] = formula(r, r.Sampling.MaxTokens, 256)
				s.Add(r)
			},
			"abort": func(t *rapid.T) {
				id := fmt.Sprintf("r%d", rapid.IntRange(0, added).Draw(t, "id"))
				delete(left, id)
				s.Abort([]string{id})
			},
			"step": func(*rapid.T) { steps() },
		})
		for range 5000 {
			if len(left) == 0 {
				return
			}
			steps()
		}
		t.Fatalf("%d requests never end", len(left))
	})
}

// check compares a step with what is left, and takes it off.
func check(t *rapid.T, s *engine.Sim, o *codec.Outputs, left map[string][]uint32) {
	for _, row := range o.Rows {
		id := string(row.ID)
		want := left[id]
		if len(want) == 0 || len(row.Tokens) != 1 || row.Tokens[0] != want[0] {
			t.Fatalf("%s got %v, want the first of %v", id, row.Tokens, want)
		}
		if left[id] = want[1:]; (len(want) == 1) != (row.Finish == codec.FinishLength) {
			t.Fatalf("%s: %v with %d tokens left", id, row.Finish, len(want)-1)
		}
		if len(want) == 1 {
			delete(left, id)
		}
	}
	load, _ := o.Load()
	if len(o.Rows) > s.MaxBatch || load.Running+load.Waiting != len(left) || load.KVUsage < 0 || load.KVUsage > 1 {
		t.Fatalf("%d rows, load %+v, %d left", len(o.Rows), load, len(left))
	}
}
