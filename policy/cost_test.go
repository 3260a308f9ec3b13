// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// traffic is requests that come round again and again over engines of changing load.
type traffic struct {
	requests []policy.Request
	engines  []policy.Engine
	events   [2]policy.Event
}

func newTraffic(n, tokens int) *traffic {
	tr := &traffic{engines: engines(n)}
	for i := range tr.engines {
		tr.engines[i].Index = i
	}
	for i := range 256 {
		tr.requests = append(tr.requests, policy.Request{
			ID: fmt.Sprint("request", i), Slot: i, Tokens: prompt(i%16, tokens), Prompt: tokens, MaxTokens: 100,
			Session: fmt.Sprint("session", i%32), LoRA: fmt.Sprint("adapter", i%8), Managed: n,
		})
	}
	return tr
}

// pick is one choice.
func (tr *traffic) pick(p policy.Policy, n int) (*policy.Request, *policy.Engine) {
	r := &tr.requests[n%len(tr.requests)]
	r.Now = time.Duration(n) * time.Millisecond
	tr.engines[n%len(tr.engines)].Running = n & 63
	return r, &tr.engines[p.Pick(*r, tr.engines)]
}

// live is a request's whole life, as the policy sees it.
func (tr *traffic) live(p policy.Policy, n int) {
	r, e := tr.pick(p, n)
	t, ok := p.(policy.Tracker)
	if !ok {
		return
	}
	t.Routed(*r, *e)
	done := tr.requests[(n+128)%len(tr.requests)].Slot
	tr.events[0] = policy.Event{Kind: policy.First, Rank: e.Rank, Slot: done, Prompt: r.Prompt, Tokens: 1, At: r.Now}
	tr.events[1] = policy.Event{Kind: policy.Finished, Rank: e.Rank, Slot: done, Prompt: r.Prompt, Tokens: 50, At: r.Now}
	t.Observe(tr.events[:])
}

func TestALifeAllocatesNothing(t *testing.T) {
	for name, p := range all() {
		tr, n := newTraffic(64, 512), 0
		for range 1000 {
			tr.live(p, n)
			n++
		}
		if got := testing.AllocsPerRun(1000, func() { tr.live(p, n); n++ }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// BenchmarkPick is a choice alone, in the state that 10,000 requests left.
func BenchmarkPick(b *testing.B) {
	for _, n := range []int{4, 64, 4096} {
		for _, name := range slices.Sorted(maps.Keys(all())) {
			b.Run(fmt.Sprintf("policy=%s/engines=%d", name, n), func(b *testing.B) { benchmarkPick(b, all()[name], n) })
		}
	}
}

func benchmarkPick(b *testing.B, p policy.Policy, engines int) {
	tr := newTraffic(engines, 64)
	for i := range 10_000 {
		tr.live(p, i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tr.pick(p, i)
	}
}

// BenchmarkPrefix is a choice by prompts of some length.
func BenchmarkPrefix(b *testing.B) {
	for _, tokens := range []int{64, 512, 4096} {
		b.Run(fmt.Sprintf("tokens=%d/engines=64", tokens), func(b *testing.B) {
			p, tr := &policy.Prefix{}, newTraffic(64, tokens)
			for i := range 10_000 {
				tr.live(p, i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tr.pick(p, i)
			}
		})
	}
}

// BenchmarkLife is a choice and all that follows.
func BenchmarkLife(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(all())) {
		b.Run(fmt.Sprintf("policy=%s/engines=16", name), func(b *testing.B) {
			p, tr := all()[name], newTraffic(16, 512)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tr.live(p, i)
			}
		})
	}
}
