// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// row is what tests compare of an output.
type row struct {
	ID     string
	Tokens int
	Finish codec.FinishReason
}

// step is what tests compare of a step.
type step struct {
	Took             time.Duration
	Rows             []row
	Running, Waiting int
	KVUsage          float64
}

// drive steps a Sim until it has nothing to do. Before the n-th step it calls
// before, if that is there.
func drive(t *testing.T, s *engine.Sim, before map[int]func()) (steps []step) {
	t.Helper()
	var now time.Duration
	for n := range 100 {
		if f := before[n]; f != nil {
			f()
		}
		o, took := s.Step(now)
		if o == nil {
			return steps
		}
		now += took
		load, _ := o.Load()
		st := step{Took: took, Running: load.Running, Waiting: load.Waiting, KVUsage: load.KVUsage}
		for _, r := range o.Rows {
			st.Rows = append(st.Rows, row{string(r.ID), len(r.Tokens), r.Finish})
		}
		steps = append(steps, st)
	}
	t.Fatal("no end")
	return nil
}

func TestStepTimeModel(t *testing.T) {
	const ms = time.Millisecond
	s := &engine.Sim{StepTime: 10 * ms, PromptTokenTime: 2 * ms, RunningTime: 100 * ms}
	s.Add(generate("a", 3, 1, 2, 3))
	got := drive(t, s, map[int]func(){1: func() { s.Add(generate("b", 1, 9)) }})
	want := []step{
		{10*ms + 3*2*ms + 100*ms, []row{{"a", 1, 0}}, 1, 0, 0},
		{10*ms + 1*2*ms + 200*ms, []row{{"a", 1, 0}, {"b", 1, codec.FinishLength}}, 1, 0, 0},
		{10*ms + 100*ms, []row{{"a", 1, codec.FinishLength}}, 0, 0, 0},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestStepTimeIsExactInFakeTime(t *testing.T) {
	bubble(t, "over many steps and after a rest", func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: 10 * time.Millisecond, PromptTokenTime: time.Millisecond, RunningTime: time.Microsecond}, 1)
		for range 2 {
			pass(time.Second)
			began := time.Now()
			r.add(generate("a", 50))
			for i := range 50 {
				r.next()
				want := time.Duration(i+1)*(10*time.Millisecond+time.Microsecond) + 3*time.Millisecond
				if took := time.Since(began); took != want {
					t.Fatalf("token %d came after %v, want %v", i, took, want)
				}
			}
		}
	})
}

func TestBatchAndQueue(t *testing.T) {
	last := codec.FinishLength
	for _, c := range []struct {
		name   string
		sim    engine.Sim
		add    []*codec.Request
		before map[int]func(*engine.Sim)
		want   []step
	}{
		{
			"the batch is bounded, the rest waits in order", engine.Sim{MaxBatch: 1},
			[]*codec.Request{generate("a", 1), generate("b", 1)}, nil,
			[]step{{Rows: []row{{"a", 1, last}}, Waiting: 1}, {Rows: []row{{"b", 1, last}}}},
		},
		{
			"the KV budget is bounded, nobody overtakes", engine.Sim{KVTokens: 8},
			[]*codec.Request{generate("a", 2), generate("b", 5), generate("c", 1)}, nil,
			[]step{
				{Rows: []row{{"a", 1, 0}, {"b", 1, 0}}, Running: 2, Waiting: 1, KVUsage: 1},
				{Rows: []row{{"a", 1, last}}, Waiting: 2}, // b gave way
				{Rows: []row{{"b", 1, 0}}, Running: 1, Waiting: 1, KVUsage: 5.0 / 8},
				{Rows: []row{{"b", 1, 0}}, Running: 1, Waiting: 1, KVUsage: 6.0 / 8},
				{Rows: []row{{"b", 1, 0}}, Running: 1, Waiting: 1, KVUsage: 7.0 / 8},
				{Rows: []row{{"b", 1, last}}, Waiting: 1},
				{Rows: []row{{"c", 1, last}}},
			},
		},
		{
			"an abort makes room and leaves no trace", engine.Sim{KVTokens: 8},
			[]*codec.Request{generate("a", 5), generate("x", 4, 1, 2, 3, 4), generate("b", 1)},
			map[int]func(*engine.Sim){1: func(s *engine.Sim) { s.Abort([]string{"a", "x", "y"}) }},
			[]step{{Rows: []row{{"a", 1, 0}}, Running: 1, Waiting: 2, KVUsage: 0.5}, {Rows: []row{{"b", 1, last}}}},
		},
		{
			"what can never fit ends at once, beside the others", engine.Sim{KVTokens: 8},
			[]*codec.Request{generate("a", 2), generate("x", 6)}, nil,
			[]step{
				{Rows: []row{{"x", 0, codec.FinishError}, {"a", 1, 0}}, Running: 1, KVUsage: 0.5},
				{Rows: []row{{"a", 1, last}}},
			},
		},
		{
			"the model's length bounds the answer", engine.Sim{MaxModelLen: 5},
			[]*codec.Request{generate("a", 100)}, nil,
			[]step{{Rows: []row{{"a", 1, 0}}, Running: 1}, {Rows: []row{{"a", 1, last}}}},
		},
		{
			"a session is not simulated", engine.Sim{},
			[]*codec.Request{generate("a", 2), generate("a", 2)}, nil,
			[]step{{Rows: []row{{"a", 0, codec.FinishError}}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range c.add {
				c.sim.Add(r)
			}
			before := map[int]func(){}
			for n, f := range c.before {
				before[n] = func() { f(&c.sim) }
			}
			if d := cmp.Diff(c.want, drive(t, &c.sim, before)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestStops(t *testing.T) {
	five := []uint32{10, 20, 30, 40, 50}
	for _, c := range []struct {
		name   string
		params codec.SamplingParams
		tokens int
		finish codec.FinishReason
		reason any
	}{
		{"max_tokens", codec.SamplingParams{MaxTokens: 3}, 3, codec.FinishLength, nil},
		{"max_tokens is 16 when it is not said", codec.SamplingParams{}, 5, codec.FinishStop, nil},
		{"a stop token is the reason", codec.SamplingParams{StopTokenIDs: []uint32{7, 30}}, 3, codec.FinishStop, int64(30)},
		{"the end of the text is no reason", codec.SamplingParams{EOSTokenID: new(uint32(20))}, 2, codec.FinishStop, nil},
		{"it may be ignored", codec.SamplingParams{EOSTokenID: new(uint32(20)), IgnoreEOS: true, MaxTokens: 4}, 4, codec.FinishLength, nil},
		{"the end goes before a stop token", codec.SamplingParams{EOSTokenID: new(uint32(20)), StopTokenIDs: []uint32{20}}, 2, codec.FinishStop, nil},
		{"not before min_tokens", codec.SamplingParams{StopTokenIDs: []uint32{20, 40}, MinTokens: 3}, 4, codec.FinishStop, int64(40)},
		{"a stop token goes before max_tokens", codec.SamplingParams{StopTokenIDs: []uint32{30}, MaxTokens: 3}, 3, codec.FinishStop, int64(30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &engine.Sim{Script: script(engine.Outcome{Tokens: five})}
			s.Add(&codec.Request{ID: "a", Prompt: []uint32{1}, Sampling: &c.params})
			for n := 1; ; n++ {
				o, _ := s.Step(0)
				if o == nil {
					t.Fatal("no finish")
				}
				if out := o.Rows[0]; out.Finish != codec.FinishNone {
					x, err := out.Extra()
					must(t, err)
					if n != c.tokens || out.Finish != c.finish || x.StopReason != c.reason {
						t.Errorf("%d tokens, %v, %v; want %d, %v, %v", n, out.Finish, x.StopReason, c.tokens, c.finish, c.reason)
					}
					return
				}
			}
		})
	}
}

func TestStatsAreVLLMs(t *testing.T) {
	bubble(t, "in every step", func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: time.Second, MaxBatch: 1, KVTokens: 100}, 1)
		r.together(generate("a", 2), generate("b", 1, 5))
		var got []codec.SchedulerStats
		var load []codec.Load
		for range 3 {
			o := r.next()
			if o.WeightVersion != "default" {
				t.Errorf("weight version %q", o.WeightVersion)
			}
			l, _ := o.Load()
			s, err := o.Stats()
			must(t, err)
			got, load = append(got, codec.SchedulerStats{
				NumRunning: s.NumRunning, NumWaiting: s.NumWaiting, StepCounter: s.StepCounter,
				KVCacheUsage: s.KVCacheUsage, PrefixCache: codec.PrefixCacheStats{Requests: s.PrefixCache.Requests, Queries: s.PrefixCache.Queries},
			}), append(load, l)
		}
		want := []codec.SchedulerStats{
			{NumRunning: 1, NumWaiting: 1, StepCounter: 1, KVCacheUsage: 0.04, PrefixCache: codec.PrefixCacheStats{Requests: 1, Queries: 3}},
			{NumWaiting: 1, StepCounter: 2},
			{StepCounter: 3, PrefixCache: codec.PrefixCacheStats{Requests: 1, Queries: 1}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(codec.Load{Running: 1, Waiting: 1, KVUsage: 0.04, Step: 1}, load[0]); d != "" {
			t.Error(d)
		}
	})
	bubble(t, "unless they are off", func(t *testing.T) {
		r := serve(t, &engine.Sim{NoStats: true}, 1)
		r.add(generate("a", 1))
		o := r.next()
		x, err := o.Rows[0].Extra()
		must(t, err)
		if _, ok := o.Load(); ok || x.Events != nil {
			t.Errorf("got stats %v and events %v", ok, x.Events)
		}
	})
}

func TestFirstOutputTellsOfThePrefill(t *testing.T) {
	bubble(t, "and no other does", func(t *testing.T) {
		r := serve(t, &engine.Sim{StepTime: time.Second}, 1)
		prompt := slices.Repeat([]uint32{1}, 35)
		r.add(generate("a", 2, prompt...))
		x, err := r.next().Rows[0].Extra()
		must(t, err)
		want := &codec.PrefillStats{NumPromptTokens: 35, NumComputedTokens: 35, NumCacheCreationTokens: 32}
		if d := cmp.Diff(want, x.PrefillStats); d != "" || len(x.Events) != 2 || x.Events[0].Type != codec.EventQueued || x.Events[1].Timestamp <= 0 {
			t.Errorf("events %v, prefill %s", x.Events, d)
		}
		if row := r.next().Rows[0]; !row.Plain() {
			t.Error("the second output has more than a token")
		}
	})
}

func TestPoolingIsOneOutputWithATensor(t *testing.T) {
	bubble(t, "of eight numbers", func(t *testing.T) {
		r := serve(t, &engine.Sim{}, 1)
		r.add(&codec.Request{ID: "a", Prompt: []uint32{1}, Pooling: &codec.PoolingParams{Task: "embed"}})
		row := r.next().Rows[0]
		x, err := row.Extra()
		must(t, err)
		if row.Finish != codec.FinishStop || len(row.Tokens) > 0 || x.Pooling == nil || !slices.Equal(x.Pooling.Shape, []int{8}) {
			t.Errorf("got %v, %+v", row.Finish, x.Pooling)
		}
	})
}
