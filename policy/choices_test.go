// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/policy"
)

func TestLegacyWeighsAWaitingRequestAsFour(t *testing.T) {
	e := []policy.Engine{{Waiting: 2, Running: 1}, {Rank: 1, Running: 8}}
	p := &policy.LeastLoadedLegacy{}
	if got := p.Pick(policy.Request{}, e); got != 1 {
		t.Fatalf("picked %d", got)
	}
	if got := p.Pick(policy.Request{}, e); got != 0 { // the choice counted as 4
		t.Fatalf("then picked %d", got)
	}
	p.Reported(e)
	if got := p.Pick(policy.Request{}, e); got != 1 {
		t.Fatalf("after a report picked %d", got)
	}
}

func TestLegacyTiesGoToTheFirstUnlessItRotates(t *testing.T) {
	for rotate, want := range map[bool][]int{false: {2, 2, 2}, true: {2, 3, 0}} {
		p := &policy.LeastLoadedLegacy{ClientIndex: 1, ClientCount: 2, Rotate: rotate}
		var got []int
		for range 3 {
			e := engines(4)
			p.Reported(e)
			got = append(got, p.Pick(policy.Request{}, e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rotate %v: %v", rotate, got)
		}
	}
}

func TestPowerOfTwoNeverTakesTheWorst(t *testing.T) {
	e := engines(8)
	e[5].InFlight = 3
	p, hit := &policy.PowerOfTwo{}, make([]int, 8)
	for range 1000 {
		hit[p.Pick(policy.Request{}, e)]++
	}
	if hit[5] != 0 || slices.Min(slices.Delete(hit, 5, 6)) < 80 {
		t.Fatalf("%v", hit)
	}
}

func TestChanceGoesBySeed(t *testing.T) {
	draw := func(seed uint64) (n []int) {
		p := &policy.Random{Seed: seed}
		for range 20 {
			n = append(n, p.Pick(policy.Request{}, engines(100)))
		}
		return n
	}
	if !slices.Equal(draw(1), draw(1)) || slices.Equal(draw(1), draw(2)) {
		t.Fatal(draw(1), draw(2))
	}
}

func TestLeastTokensCountsPromptsUntilTheFirstOutputAndAnswersUntilTheEnd(t *testing.T) {
	p := &policy.LeastTokens{}
	f := newFleet(p, 2)
	expect := func(when string, want int) {
		t.Helper()
		if f.tell(); p.Open(0) != want {
			t.Errorf("%s: %d tokens, want %d", when, p.Open(0), want)
		}
	}
	a, _ := f.send(t, policy.Request{Prompt: 1000, MaxTokens: 50})
	expect("a short answer", 1050)
	if _, rank := f.send(t, policy.Request{Prompt: 10}); rank != 1 {
		t.Error("the second request joined the first")
	}
	f.event(policy.First, a, 1)
	expect("after its first output", 50)
	f.event(policy.Finished, a, 8)
	expect("after its end", 0)
	f.place(f.prepare(policy.Request{Prompt: 1, MaxTokens: 50}), f.engines[0])
	expect("when answers are known to be short", 1+8)
}

func TestShortestWaitLearnsWhichEngineIsSlow(t *testing.T) {
	p := &policy.ShortestWait{}
	w := base()
	w.Engines, w.Rate, w.Slow, w.Requests = 4, 40, unequal, 2000
	w.run(p)
	if s := p.Slowness(0) / p.Slowness(1); s < 1.4 || s > 2.6 {
		t.Errorf("an engine 2.5 times as slow counts as %.2f times as slow", s)
	}
	if s := p.Slowness(2) / p.Slowness(1); s != 1 {
		t.Errorf("an engine as fast counts as %.2f times as slow", s)
	}
	p.Observe([]policy.Event{{Kind: policy.Gone, Rank: 0}})
	if s := p.Slowness(0); s != 1 {
		t.Errorf("after a new start it counts as %v", s)
	}
}

func TestShortestWaitAvoidsAnEngineThatHangsAndTriesItAgain(t *testing.T) {
	f := newFleet(&policy.ShortestWait{}, 2)
	for i := range 100 {
		f.serve(t, policy.Request{Prompt: 100 + i})
	}
	stuck, hung := f.send(t, policy.Request{Prompt: 100})
	f.now += time.Minute
	for range 5 { // all at once, and the other one is busy besides
		if _, rank := f.send(t, policy.Request{Prompt: 100}); rank == hung {
			t.Fatal("sent to the engine that hangs")
		}
	}
	f.event(policy.Finished, stuck, 10)
	for range 3 {
		if _, rank := f.send(t, policy.Request{Prompt: 100}); rank == hung {
			return
		}
	}
	t.Error("the engine is idle again and gets nothing")
}

func TestLoRAStaysWhereTheAdapterIs(t *testing.T) {
	p := &policy.LoRA{Adapters: 2}
	f := newFleet(p, 4)
	x := policy.Request{LoRA: "x"}
	home := f.serve(t, x)
	for range 5 {
		if got := f.serve(t, x); got != home || p.Decided().Reason != policy.AdapterLoaded {
			t.Fatalf("went to %d for %v, the adapter is at %d", got, p.Decided(), home)
		}
	}
	for range 8 { // all together: up to 4 each
		f.send(t, x)
	}
	if got := slices.Sorted(slices.Values(f.outstanding())); !slices.Equal(got, []int{0, 0, 4, 4}) {
		t.Errorf("a burst of one adapter is spread as %v", got)
	}
	f = newFleet(&policy.LoRA{Adapters: 2}, 2)
	place := func(lora string, rank int) {
		r := f.prepare(policy.Request{LoRA: lora})
		f.place(r, f.engines[rank])
		f.event(policy.Finished, r.Slot, 1)
	}
	for _, name := range []string{"x", "y", "z"} { // x has to go
		place(name, 1)
	}
	place("x", 0)
	f.engines[0].InFlight = 1
	if _, rank := f.send(t, x); rank != 0 {
		t.Error("sent to an engine that has dropped the adapter")
	}
	f.policy.(policy.Reporter).Reported([]policy.Engine{{Rank: 1, Adapters: []string{"w"}}})
	f.engines[1].InFlight = 3
	if _, rank := f.send(t, policy.Request{LoRA: "w"}); rank != 1 {
		t.Error("what an engine reported is not known")
	}
}

func TestWhatAPrefixIsMadeOf(t *testing.T) {
	for _, c := range []struct {
		name string
		next policy.Request
		same bool
	}{
		{"the same prompt", policy.Request{Tokens: prompt(1, 256)}, true},
		{"one that goes on", policy.Request{Tokens: prompt(1, 300)}, true},
		{"one with another end", policy.Request{Tokens: append(prompt(1, 128), prompt(2, 128)...)}, true},
		{"one with another beginning", policy.Request{Tokens: append(prompt(2, 1), prompt(1, 256)[1:]...)}, false},
		{"the same blocks in another order", policy.Request{Tokens: append(slices.Clone(prompt(1, 256)[64:]), prompt(1, 64)...)}, false},
		{"an adapter", policy.Request{Tokens: prompt(1, 256), LoRA: "x"}, false},
		{"a cache salt", policy.Request{Tokens: prompt(1, 256), CacheSalt: "x"}, false},
		{"no tokens, as of embeddings", policy.Request{Prompt: 256}, false},
		{"less than a block", policy.Request{Tokens: prompt(1, 63)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &policy.Prefix{}
			f := newFleet(p, 100)
			f.place(f.prepare(policy.Request{Tokens: prompt(1, 256)}), f.engines[70])
			f.event(policy.Finished, 0, 1)
			if _, rank := f.send(t, c.next); (rank == 70) != c.same || (p.Decided().Reason == policy.PrefixHit) != c.same {
				t.Errorf("went to %d for %v", rank, p.Decided())
			}
		})
	}
}

func TestAPrefixIsForgottenWithItsEngineAndWhenThereAreTooMany(t *testing.T) {
	f := newFleet(&policy.Prefix{Blocks: 64}, 3)
	r := policy.Request{Tokens: prompt(1, 256)}
	hit := func() bool { f.serve(t, r); return f.policy.(policy.Decider).Decided().Reason == policy.PrefixHit }
	if hit() || !hit() {
		t.Fatal("not known at the second time alone")
	}
	for kind := range 100 {
		f.serve(t, policy.Request{Tokens: prompt(10+kind, 256)})
	}
	if hit() || !hit() {
		t.Fatal("known after 100 others")
	}
	for rank := range f.engines {
		f.die(rank)
	}
	f.gone = map[int]bool{}
	if hit() {
		t.Fatal("known after all engines started anew")
	}
}

func TestPrefixHitsTheCacheAndBalances(t *testing.T) {
	w := base()
	w.Rate, w.Prompt, w.Prefixes, w.PrefixTokens = 250, lognormal(128, 0.5, 1000), 64, 1024
	w.CachedPrefixes = 8
	vllm, prefix := w.run(&policy.LeastLoaded{}), w.run(&policy.Prefix{})
	t.Logf("hits %.2f against %.2f, at %.2f times the mean; first output p99 %v against %v",
		prefix.Hits, vllm.Hits, prefix.MaxMean, prefix.p(.99, prefix.First), vllm.p(.99, vllm.First))
	if prefix.Hits < 2*vllm.Hits || prefix.MaxMean > 1.25 {
		t.Fatal("too few hits or too much on one engine")
	}
}

func ExampleExplainer() {
	p := &policy.Session{Next: &policy.LeastTokens{}}
	e := []policy.Engine{{Rank: 0, InFlight: 2}, {Rank: 1, InFlight: 1}}
	x := p.Explain(policy.Request{Session: "a"}, e)
	fmt.Println(x.Policy, x.Reason, x.Pick)
	p.Routed(policy.Request{Session: "a"}, e[x.Pick])
	x = p.Explain(policy.Request{Session: "a"}, e)
	fmt.Println(x.Policy, x.Reason, x.Pick)
	// Output:
	// session new session 1
	// session session 1
}
