// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/corepipe/corepipe/policy"
)

const us = time.Microsecond

func fixed(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }

// lognormal has the given median and spread.
func lognormal(median, sigma float64, most int) func(*rand.Rand) int {
	return func(r *rand.Rand) int {
		return min(max(int(median*math.Exp(sigma*r.NormFloat64())), 1), most)
	}
}

// base is 16 engines with reports every 100 ms, at half of what they can do.
func base() world {
	return world{
		Engines: 16, Step: 8 * time.Millisecond, PromptToken: 25 * us, Running: 60 * us, Batch: 256,
		Report: 100 * time.Millisecond, Requests: 3000, Rate: 200,
		Prompt: lognormal(512, 1, 16000), Answer: lognormal(128, 0.8, 2000),
	}
}

// unequal makes every fourth engine slow.
func unequal(i int) float64 {
	if i%4 == 0 {
		return 2.5
	}
	return 1
}

// first is the mean over three seeds of the 99th percentile of the time to first token.
func first(w world, p func() policy.Policy) (sum time.Duration) {
	for seed := range uint64(3) {
		w.Seed = seed
		r := w.run(p())
		sum += r.p(0.99, r.First) / 3
	}
	return sum
}

func TestShortestWaitAgainstLeastLoaded(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(w *world)
		most float64 // of LeastLoaded's time
	}{
		{"requests of all sizes", func(*world) {}, 0.8},
		{"requests alike", func(w *world) { w.Prompt, w.Answer, w.Rate = fixed(512), fixed(128), 300 }, 0.8},
		{"bursts", func(w *world) { w.Burst = 64 }, 0.8},
		{"engines of unequal speed", func(w *world) { w.Slow = unequal }, 0.8},
		{"unequal and bursts", func(w *world) { w.Slow, w.Burst = unequal, 64 }, 0.8},
		{"unequal and full", func(w *world) { w.Slow, w.Batch = unequal, 32 }, 0.8},
		{"prefill in chunks", func(w *world) { w.Chunk = 2048 }, 0.8},
		{"unequal in chunks", func(w *world) { w.Slow, w.Burst, w.Chunk = unequal, 64, 2048 }, 0.8},
		{"batches full", func(w *world) { w.Batch, w.Rate = 16, 150 }, 1.02},
		{"more than they can do", func(w *world) { w.Batch, w.Rate = 16, 220 }, 1.02},
		{"tiny requests", func(w *world) {
			w.Step, w.PromptToken, w.Running, w.Rate = 2*time.Millisecond, 2*us, 10*us, 3000
			w.Prompt, w.Answer = lognormal(128, 0.5, 1000), lognormal(32, 0.5, 100)
		}, 1.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := base()
			c.edit(&w)
			vllm := first(w, func() policy.Policy { return &policy.LeastLoaded{} })
			ours := first(w, func() policy.Policy { return &policy.ShortestWait{} })
			t.Logf("%.2f of %v", float64(ours)/float64(vllm), vllm)
			if float64(ours) > c.most*float64(vllm) {
				t.Fatalf("p99 of the time to first token is %v, LeastLoaded's %v", ours, vllm)
			}
		})
	}
}
