// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"testing"
	"time"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

// first always takes the first engine.
func first() policy.Policy {
	return policy.Func(func(policy.Request, []policy.Engine) int { return 0 })
}

// one replays t on one engine.
func one(t *testing.T, m replay.Model, speed float64, trace ...replay.Request) *replay.Result {
	t.Helper()
	return run(t, replay.Fleet{Engines: 1, Model: m, Speeds: []float64{speed}}, trace, first())
}

func run(t *testing.T, f replay.Fleet, trace replay.Trace, p policy.Policy) *replay.Result {
	t.Helper()
	results, err := replay.Run(t.Context(), f, trace, p)
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// Steps of 10 ms, 0.1 ms for a prompt token, 1 ms for a decoded request.
func plain() replay.Model {
	return replay.Model{StepTime: ms(10), PromptTokenTime: ms(0.1), RunningTime: ms(1), MaxBatchedTokens: 1000, KVTokens: 64 << 10}
}

func TestAnEngineTakesTheTimeOfItsSteps(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(m *replay.Model)
		speed float64
		trace replay.Trace
		ttft  replay.Quantiles // of the faster and the slower one
		e2e   float64          // of the slower one
	}{
		{"a lone request", nil, 1, replay.Trace{{Prompt: 100, Output: 5}}, replay.Quantiles{P50: 20, P99: 20}, 20 + 4*11},
		{"an answer of one token", nil, 1, replay.Trace{{Prompt: 100, Output: 1}}, replay.Quantiles{P50: 20, P99: 20}, 20},
		{"half the speed", nil, 0.5, replay.Trace{{Prompt: 100, Output: 5}}, replay.Quantiles{P50: 40, P99: 40}, 2 * (20 + 4*11)},
		{"a prompt in chunks", nil, 1, replay.Trace{{Prompt: 2500, Output: 2}}, replay.Quantiles{P50: 280, P99: 280}, 280 + 11},
		{
			"one that comes during a step takes part in the next one", nil, 1,
			replay.Trace{{Prompt: 100, Output: 2}, {Prompt: 300, Output: 2}},
			replay.Quantiles{P50: 20, P99: 20 + 41}, 61 + 11,
		},
		{
			"a full batch waits for an end", func(m *replay.Model) { m.MaxBatch = 1 }, 1,
			replay.Trace{{Prompt: 100, Output: 3}, {Prompt: 100, Output: 1}},
			replay.Quantiles{P50: 20, P99: 42 + 20}, 62,
		},
		{
			"a prompt gets what those that are decoded leave", nil, 1,
			replay.Trace{{Prompt: 100, Output: 3}, {Prompt: 1000, Output: 1}}, // 999 and 1
			replay.Quantiles{P50: 20, P99: 20 + 110.9 + 11.1}, 142,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plain()
			if c.edit != nil {
				c.edit(&m)
			}
			r := one(t, m, c.speed, c.trace...)
			if r.TTFT != c.ttft || r.E2E.P99 != c.e2e {
				t.Errorf("time to first token %v ms, end to end %v; want %v and %v", r.TTFT, r.E2E.P99, c.ttft, c.e2e)
			}
		})
	}
}

func TestAPrefixThatIsCachedIsNotComputedAgain(t *testing.T) {
	shared := func(at float64, prompt int) replay.Request {
		return replay.Request{At: ms(at), Prompt: prompt, Output: 1, Prefix: "p", PrefixTokens: min(prompt, 320)}
	}
	for _, c := range []struct {
		name  string
		trace replay.Trace
		ttft  float64 // of the last to come, which is the shorter one
		hits  int     // of all prompt tokens
	}{
		{"full blocks of 16", replay.Trace{shared(0, 400), shared(1000, 400)}, 10 + 8, 320},
		{"one that is not full", replay.Trace{shared(0, 300), shared(1000, 400)}, 10 + 10 + 1.2, 288},
		{"the last token is computed in any case", replay.Trace{shared(0, 320), shared(1000, 320)}, 10 + 1.6, 304},
		{"nothing without the same beginning", replay.Trace{shared(0, 400), {At: ms(1000), Prompt: 300, Output: 1}}, 10 + 30, 0},
		{"token ids", replay.Trace{ids(0, 50), ids(1000, 40)}, 10 + 0.8, 32},
		{
			"a conversation's answer too", replay.Trace{
				{Prompt: 100, Output: 61, Session: "s"}, {At: ms(2000), Prompt: 200, Output: 1, Session: "s"},
			}, 10 + 4, 160,
		},
		{
			"another conversation", replay.Trace{
				{Prompt: 400, Output: 61, Session: "s"}, {At: ms(2000), Prompt: 200, Output: 1, Session: "t"},
			}, 10 + 20, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := one(t, plain(), 1, c.trace...)
			prompts := c.trace[0].Prompt + c.trace[1].Prompt
			if want := float64(c.hits) / float64(prompts); r.PrefixHits < want-0.0001 || r.PrefixHits > want+0.0001 {
				t.Errorf("hits: got %v, want %v", r.PrefixHits, want)
			}
			if r.TTFT.P50 != c.ttft && r.TTFT.P99 != c.ttft {
				t.Errorf("time to first token: got %v, want one of %v ms", r.TTFT, c.ttft)
			}
		})
	}
}

// ids is a request whose prompt is told by its tokens.
func ids(at float64, n int) replay.Request {
	q := replay.Request{At: ms(at), Prompt: n, Output: 1}
	for i := range n {
		q.Tokens = append(q.Tokens, uint32(i))
	}
	return q
}

func TestTheCacheForgetsWhatWasUnusedLongest(t *testing.T) {
	m := plain()
	m.KVTokens = 1024
	hits := func(names ...string) float64 {
		var trace replay.Trace
		for i, name := range names {
			trace = append(trace, replay.Request{At: time.Duration(i) * time.Second, Prompt: 257, Output: 1, Prefix: name, PrefixTokens: 256})
		}
		return one(t, m, 1, trace...).PrefixHits * float64(len(names)) * 257 / 256
	}
	for _, c := range []struct {
		names []string
		hits  float64
	}{
		{[]string{"a", "b", "c", "a"}, 1}, // 64 blocks; each has 16, and one more that is soon free
		{[]string{"a", "b", "c", "a", "d", "a"}, 2},
		{[]string{"a", "b", "c", "a", "d", "b"}, 1 + 15.0/16}, // the end of b went first
		{[]string{"a", "b", "c", "d", "e", "a"}, 0},
	} {
		if got := hits(c.names...); got < c.hits-0.01 || got > c.hits+0.01 {
			t.Errorf("%v: %.3f hits, want %v", c.names, got, c.hits)
		}
	}
}

func TestTheYoungestGivesWayWhenTheCacheIsFull(t *testing.T) {
	m := plain()
	m.KVTokens = 512
	trace := replay.Trace{{Prompt: 100, Output: 300}, {Prompt: 100, Output: 250}}
	tight := one(t, m, 1, trace...)
	m.KVTokens = 2048
	wide := one(t, m, 1, trace...)
	if tight.Done != 2 || wide.Done != 2 {
		t.Fatalf("done: %d and %d, want 2", tight.Done, wide.Done)
	}
	if alone := 300 * 11.0; tight.E2E.P50 < alone || tight.E2E.P50 >= wide.E2E.P99 {
		t.Errorf("the older one must be done first, and faster than with room for both: %v and %v", tight.E2E, wide.E2E)
	}
	if tight.E2E.P99 <= wide.E2E.P99 {
		t.Errorf("the younger one must be slower than with room for both: %v and %v", tight.E2E, wide.E2E)
	}
}

func TestARequestThatCanNeverFitFails(t *testing.T) {
	m := plain()
	m.KVTokens = 512
	r := one(t, m, 1, replay.Request{Prompt: 500, Output: 13}, replay.Request{At: ms(1), Prompt: 500, Output: 11})
	if r.Failed != 1 || r.Done != 1 {
		t.Fatalf("failed %d, done %d, want 1 and 1", r.Failed, r.Done)
	}
}
