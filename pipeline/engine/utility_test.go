// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

func TestCallIdComesBack(t *testing.T) {
	for name, id := range map[string]codec.CallID{
		"zero":                       {},
		"small":                      {N: 17},
		"over 2^63, as Python's are": {N: math.MaxUint64 - 2},
		"negative":                   {N: 5, Negative: true},
	} {
		bubble(t, name, func(t *testing.T) {
			r := serve(t, &engine.Sim{}, 2)
			r.call(codec.UtilityCall{ClientIndex: 1, CallID: id, Method: "get_supported_tasks"})
			o := r.fronts[1].next()
			v, err := o.Utility.Result()
			must(t, err)
			if d := cmp.Diff(any([]any{"generate"}), v); d != "" || o.Utility.CallID != id || o.Utility.Failed() {
				t.Errorf("got %+v: %s", o.Utility, d)
			}
			r.silent()
		})
	}
}

func TestMethodsOfSim(t *testing.T) {
	type call struct {
		method  string
		args    []any
		want    any
		failure string
	}
	for name, calls := range map[string][]call{
		"an engine is awake at first": {{"is_sleeping", nil, false, ""}, {"is_scheduler_paused", nil, false, ""}},
		"sleep and wake_up": {
			{"sleep", []any{1, "abort"}, nil, ""},
			{"is_sleeping", nil, true, ""},
			{"wake_up", []any{nil}, true, ""},
			{"is_sleeping", nil, false, ""},
		},
		"pause and resume": {
			{"pause_scheduler", []any{"keep", true}, nil, ""},
			{"is_scheduler_paused", nil, true, ""},
			{"resume_scheduler", nil, nil, ""},
			{"is_scheduler_paused", nil, false, ""},
		},
		"weight versions": {
			{"get_weight_version", nil, "default", ""},
			{"set_weight_version", []any{"v2"}, nil, ""},
			{"get_weight_version", nil, "v2", ""},
			{"set_weight_version", nil, nil, "Call to set_weight_version method failed: "},
		},
		"adapters": {
			{"list_loras", nil, []any{}, ""},
			{"add_lora", []any{[]any{"n", 7, "/p", nil}}, true, ""},
			{"add_lora", []any{[]any{"m", 3, "/q", nil}}, true, ""},
			{"list_loras", nil, []any{int64(3), int64(7)}, ""},
			{"pin_lora", []any{3}, true, ""},
			{"remove_lora", []any{7}, true, ""},
			{"remove_lora", []any{7}, false, ""},
			{"add_lora", []any{"n"}, nil, "Call to add_lora method failed: "},
		},
		"what has no effect": {
			{"reset_prefix_cache", []any{true, false}, true, ""},
			{"profile", []any{true, nil}, nil, ""},
			{"reset_mm_cache", nil, nil, ""},
			{"execute_dummy_batch", nil, nil, ""},
			{"collective_rpc", []any{"f", nil, []any{}, map[string]any{}}, []any{nil}, ""},
			{"compute_weight_checksums", nil, []any{map[string]any{}}, ""},
			{"get_kv_cache_group_metadata", nil, []any{}, ""},
			{"save_sharded_state", []any{"/p", nil, nil}, nil, ""},
		},
		"what fails": {
			{"nope", nil, nil, "Call to nope method failed: 'EngineCoreProc' object has no attribute 'nope'"},
			{"is_sleeping", []any{1}, nil, "Call to is_sleeping method failed: EngineCore.is_sleeping() takes 1 positional arguments but 2 were given"},
			{"pause_scheduler", []any{"never"}, nil, "Call to pause_scheduler method failed: no such pause mode: never"},
		},
	} {
		bubble(t, name, func(t *testing.T) {
			r := serve(t, &engine.Sim{}, 1)
			for i, c := range calls {
				id := codec.CallID{N: uint64(i)}
				r.call(codec.UtilityCall{CallID: id, Method: c.method, Args: c.args})
				u := r.next().Utility
				if u.CallID != id || c.failure == "" && u.Failed() || !strings.HasPrefix(u.Failure, c.failure) {
					t.Fatalf("%s: got %v %q, want %v %q", c.method, u.CallID, u.Failure, id, c.failure)
				}
				if u.Failed() {
					continue
				}
				v, err := u.Result()
				must(t, err)
				if d := cmp.Diff(c.want, v); d != "" {
					t.Errorf("%s: %s", c.method, d)
				}
			}
		})
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		mode    string
		now     []codec.FinishReason // of a and b while paused
		resumed []string             // who finishes after it
	}{
		{"abort", []codec.FinishReason{codec.FinishAbort, codec.FinishAbort}, []string{"c"}},
		{"wait", []codec.FinishReason{codec.FinishLength, codec.FinishNone}, []string{"b", "c"}},
		{"keep", []codec.FinishReason{codec.FinishNone, codec.FinishNone}, []string{"a", "b", "c"}},
	} {
		bubble(t, "in mode "+c.mode, func(t *testing.T) {
			r := serve(t, &engine.Sim{StepTime: time.Second, MaxBatch: 1}, 1)
			r.add(generate("a", 3), generate("b", 3)) // b waits for a
			pass(1500 * time.Millisecond)
			r.call(codec.UtilityCall{Method: "pause_scheduler", Args: []any{c.mode}})
			r.add(generate("c", 3))
			pass(time.Minute)
			r.call(codec.UtilityCall{CallID: codec.CallID{N: 1}, Method: "resume_scheduler"})
			finish := map[string]codec.FinishReason{}
			for {
				o := r.next()
				for _, row := range o.Rows {
					finish[string(row.ID)] = row.Finish
				}
				if o.Utility != nil && o.Utility.CallID.N == 1 {
					break
				}
			}
			if got := []codec.FinishReason{finish["a"], finish["b"]}; !slices.Equal(got, c.now) || finish["c"] != 0 {
				t.Errorf("paused: got %v, want %v", got, c.now)
			}
			r.answer(c.resumed...)
		})
	}
}

// odd has methods whose results cannot be sent.
type odd struct{ engine.Sim }

func (*odd) Utility(method string, _ []any) (any, error) {
	if method == "fail" {
		return nil, errors.New("on purpose")
	}
	return func() {}, nil
}

func TestResultThatCannotBeSentFailsItsCall(t *testing.T) {
	bubble(t, "and no other", func(t *testing.T) {
		r := serve(t, &odd{}, 1)
		for _, c := range [][2]string{
			{"fail", "Call to fail method failed: on purpose"},
			{"odd", "Call to odd method failed: result cannot be sent: "},
		} {
			r.call(codec.UtilityCall{Method: c[0]})
			if u := r.next().Utility; !strings.HasPrefix(u.Failure, c[1]) {
				t.Errorf("got %q, want %q", u.Failure, c[1])
			}
		}
		r.add(generate("a", 3))
		r.answer("a")
	})
}

// wavy counts the waves it is told to start.
type wavy struct {
	engine.Sim
	waves []int
}

func (w *wavy) StartWave(wave int, _ codec.Exclude) { w.waves = append(w.waves, wave) }

func TestWavesReachTheCore(t *testing.T) {
	bubble(t, "in order", func(t *testing.T) {
		w := &wavy{}
		r := serve(t, w, 1)
		for wave := range 3 {
			r.send([]byte{byte(codec.StartWave)}, codec.AppendStartWave(nil, wave, codec.ExcludeRank(1)))
		}
		pass(time.Second)
		must(t, r.end())
		if !slices.Equal(w.waves, []int{0, 1, 2}) {
			t.Errorf("got %v", w.waves)
		}
	})
}
