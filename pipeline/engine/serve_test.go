// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

func TestEveryTokenFollowsTheFormula(t *testing.T) {
	for _, c := range []struct {
		name     string
		sim      engine.Sim
		vocab    uint64
		requests []*codec.Request
	}{
		{"one request", engine.Sim{}, 256, []*codec.Request{generate("r1", 7)}},
		{"a prompt whose sum wraps", engine.Sim{}, 256, []*codec.Request{generate("r1", 7, 4294967295, 7)}},
		{"a vocabulary of a real model", engine.Sim{Vocab: 128000}, 128000, []*codec.Request{generate("cmpl-1-abcdef", 40)}},
		{"several at once", engine.Sim{StepTime: time.Millisecond}, 256, []*codec.Request{generate("a", 3), generate("b", 9), generate("c", 1)}},
		{"more than the batch holds", engine.Sim{MaxBatch: 2}, 256, []*codec.Request{generate("a", 3), generate("b", 9), generate("c", 5)}},
		{"more than the KV cache holds", engine.Sim{KVTokens: 14}, 256, []*codec.Request{generate("a", 9), generate("b", 9), generate("c", 5)}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			r := serve(t, &c.sim, 1)
			r.add(c.requests...)
			want := map[string][]uint32{}
			var ids []string
			for _, q := range c.requests {
				want[q.ID] = formula(q, q.Sampling.MaxTokens, c.vocab)
				ids = append(ids, q.ID)
			}
			tokens, finish := r.answer(ids...)
			if d := cmp.Diff(want, tokens); d != "" {
				t.Error(d)
			}
			for id, f := range finish {
				if f != codec.FinishLength {
					t.Errorf("%s finished with %v, want length", id, f)
				}
			}
			r.silent()
			must(t, r.end())
		})
	}
}

func TestAbortGivesNoOutput(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []string
		late bool // in the middle of a step
		want []string
	}{
		{"before the step", []string{"a"}, false, []string{"b"}},
		{"during the step, whose output is dropped", []string{"a"}, true, []string{"b"}},
		{"both of them", []string{"a", "b"}, true, nil},
		{"unknown ids are skipped", []string{"x", "b", "y"}, true, []string{"a"}},
		{"no ids at all mean nothing", nil, true, []string{"a", "b"}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			counters := new(engine.Counters)
			r := serve(t, &engine.Sim{StepTime: 10 * time.Millisecond, NoStats: true}, 1, func(e *engine.Config) { e.Counters = counters })
			r.add(generate("a", 2), generate("b", 2))
			if c.late {
				pass(5 * time.Millisecond)
			}
			r.abort(c.ids...)
			if c.want != nil {
				r.answer(c.want...)
			}
			r.silent()
			if n := int(counters.Aborted.Load()) + len(c.want); n != 2 || counters.Requests.Load() != 2 {
				t.Errorf("counted %d aborts, want %d", counters.Aborted.Load(), 2-len(c.want))
			}
		})
	}
}

func TestAnIdMayBeUsedAgain(t *testing.T) {
	bubble(t, "after its request has finished", func(t *testing.T) {
		r := serve(t, &engine.Sim{}, 1)
		for range 3 {
			r.add(generate("a", 2))
			r.answer("a")
		}
	})
	bubble(t, "after an abort in the same step", func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: time.Second}, 1)
		r.add(generate("a", 9))
		pass(1500 * time.Millisecond) // one step is done, one is under way
		r.abort("a")
		r.add(generate("a", 2))
		first := r.next().Rows
		tokens, _ := r.answer("a")
		if want := formula(generate("a", 2), 2, 256); len(first) != 1 || !slices.Equal(tokens["a"], want) {
			t.Errorf("got %v, want %v", tokens["a"], want)
		}
	})
	bubble(t, "not before: the second is answered with an error, the first goes on", func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: time.Second}, 1)
		r.add(generate("a", 3))
		synctest.Wait()
		r.add(generate("a", 3))
		var finish []codec.FinishReason
		for range 4 {
			o := r.next()
			finish = append(finish, o.Rows[0].Finish)
			if o.Rows[0].Finish == codec.FinishError && !slices.Equal(o.Finished, []string{"a"}) {
				t.Errorf("finished_requests %q, want a", o.Finished)
			}
		}
		if want := []codec.FinishReason{0, codec.FinishError, 0, codec.FinishLength}; !slices.Equal(finish, want) {
			t.Errorf("got %v, want %v", finish, want)
		}
	})
}

func TestRequestsThatCannotBeServedAreAnsweredWithAnError(t *testing.T) {
	for name, r := range map[string]*codec.Request{
		"neither sampling nor pooling": {ID: "a", Prompt: []uint32{1}},
		"no prompt":                    {ID: "a", Sampling: &codec.SamplingParams{}},
		"no bound on the answer":       {ID: "a", Prompt: []uint32{1}, Sampling: &codec.SamplingParams{MaxTokens: codec.NoLimit}},
		"embeddings of another length": {
			ID: "a", Prompt: []uint32{1, 2}, Sampling: &codec.SamplingParams{MaxTokens: 1},
			PromptEmbeds: codec.Float32Tensor([]int{1, 2}, []float32{1, 2}),
		},
		"more than the KV cache can ever hold": generate("a", 98),
	} {
		bubble(t, name, func(t *testing.T) {
			rig := serve(t, &engine.Sim{KVTokens: 100}, 1)
			rig.add(r)
			if tokens, finish := rig.answer("a"); finish["a"] != codec.FinishError || len(tokens["a"]) > 0 {
				t.Errorf("got %v and %v, want an error", tokens, finish)
			}
		})
	}
}

func TestAbortImmediatelyIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, &engine.Sim{}, 1)
		q := generate("a", 2)
		q.AbortImmediately = true
		r.add(q)
		r.silent()
		r.add(generate("a", 2)) // the id is free
		r.answer("a")
	})
}

func TestEndAbortsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: time.Second, MaxBatch: 1}, 2)
		other := generate("c", 5)
		other.ClientIndex = 1
		r.add(generate("b", 5), generate("a", 5), other)
		pass(2500 * time.Millisecond)
		for range 2 {
			r.next() // two steps of b
		}
		must(t, r.end())
		for i, want := range [][]string{{"a", "b"}, {"c"}} {
			o := r.fronts[i].next()
			if !slices.Equal(o.Finished, want) || len(o.Rows) != len(want) {
				t.Fatalf("client %d: finished %q, want %q", i, o.Finished, want)
			}
			for j, row := range o.Rows {
				if string(row.ID) != want[j] || row.Finish != codec.FinishAbort || len(row.Tokens) > 0 {
					t.Errorf("got %s %v, want an abort of %s", row.ID, row.Finish, want[j])
				}
			}
			r.fronts[i].silent()
		}
	})
}

func TestClientsGetTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		skipped := 0
		r := serve(t, &engine.Sim{StepTime: time.Millisecond}, 3, func(c *engine.Config) { c.Skipped = func(error) { skipped++ } })
		a, b, lost := generate("a", 4), generate("b", 2), generate("x", 2)
		a.ClientIndex, b.ClientIndex, lost.ClientIndex = 2, 1, 3
		r.fronts[1].add(b)
		synctest.Wait() // its first step is under way
		r.fronts[2].add(a, lost)
		tokens, _ := r.fronts[1].answer("b")
		if want := formula(b, 2, 256); !slices.Equal(tokens["b"], want) {
			t.Errorf("got %v, want %v", tokens["b"], want)
		}
		for i := range 4 {
			o := r.fronts[2].next()
			if _, stats := o.Load(); string(o.Rows[0].ID) != "a" || stats != (i >= 1) {
				t.Errorf("step %d: rows of %s, stats %v: they go to the first client that has rows", i, o.Rows[0].ID, stats)
			}
		}
		if skipped != 1 {
			t.Errorf("%d messages skipped, want the one of client 3", skipped)
		}
		for _, f := range r.fronts {
			f.silent()
		}
	})
}
