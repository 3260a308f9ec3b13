// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"math"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/policy"
)

// listener notes what it hears.
type listener struct {
	policy.RoundRobin
	heard []string
}

func (l *listener) Reported([]policy.Engine)             { l.heard = append(l.heard, "report") }
func (l *listener) Routed(policy.Request, policy.Engine) { l.heard = append(l.heard, "routed") }
func (l *listener) Observe([]policy.Event)               { l.heard = append(l.heard, "events") }

func TestALayerPassesOnAllThatItHears(t *testing.T) {
	next := &listener{}
	for name, p := range map[string]policy.Policy{
		"session": &policy.Session{Next: next}, "prefix": &policy.Prefix{Next: next}, "lora": &policy.LoRA{Next: next},
		"weighted": &policy.Weighted{Next: next}, "late interaction": &policy.LateInteraction{Next: next},
	} {
		next.heard = nil
		p.(policy.Reporter).Reported(engines(2))
		p.(policy.Tracker).Routed(policy.Request{}, engines(1)[0])
		p.(policy.Tracker).Observe([]policy.Event{{Kind: policy.Gone}})
		if !slices.Equal(next.heard, []string{"report", "routed", "events"}) {
			t.Errorf("%s: %v", name, next.heard)
		}
		p.Pick(policy.Request{}, engines(2))
		if d := p.(policy.Decider).Decided(); d.Policy != "round-robin" {
			t.Errorf("%s takes a choice of Next's for its own: %v", name, d)
		}
	}
}

func TestWhoFollowsRequests(t *testing.T) {
	blind := policy.Func(func(policy.Request, []policy.Engine) int { return 0 })
	for name, c := range map[string]struct {
		policy policy.Policy
		want   bool
	}{
		"none":                      {blind, false},
		"one":                       {&policy.LeastTokens{}, true},
		"a layer over one":          {&policy.LateInteraction{Next: &policy.Weighted{Next: &policy.LeastTokens{}}}, true},
		"layers over none":          {&policy.LateInteraction{Next: &policy.Weighted{Next: &policy.LeastLoaded{}}}, false},
		"a layer over its default":  {&policy.LateInteraction{}, false},
		"one that is a layer":       {&policy.Session{}, true},
		"a layer over one of these": {&policy.Weighted{Next: &policy.Prefix{}}, true},
	} {
		if got := policy.TrackerOf(c.policy) != nil; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestASessionMayMoveOnceItsRequestsAreOver(t *testing.T) {
	f := newFleet(&policy.Session{}, 2)
	r := policy.Request{Session: "s"}
	home := f.serve(t, r)
	for range 50 {
		f.serve(t, r)
	}
	f.engines[home].InFlight = 20 // others'
	moved := f.serve(t, r)
	f.engines[home].InFlight = 0
	if again := f.serve(t, r); moved == home || again != moved {
		t.Errorf("from %d to %d and then to %d", home, moved, again)
	}
}

func TestForgottenBlocksLeaveNoHolderBehind(t *testing.T) {
	f := newFleet(&policy.Prefix{Blocks: 8}, 2)
	for kind := range 40 { // engine 0's are forgotten one by one
		for rank := range 2 {
			r := f.prepare(policy.Request{Tokens: prompt(2*kind+rank, 64)})
			f.place(r, f.engines[rank])
			f.event(policy.Finished, r.Slot, 1)
		}
	}
	f.engines[1].InFlight = 1 // so that 0 is better if it holds as much
	if _, rank := f.send(t, policy.Request{Tokens: prompt(79, 64)}); rank != 1 {
		t.Error("an engine counts as holding what it was never sent")
	}
}

func TestLoRAForgetsTheAdapterUsedLongestAgo(t *testing.T) {
	p := &policy.LoRA{Adapters: 2}
	f := newFleet(p, 3)
	for _, name := range []string{"x", "y", "x", "z"} { // y has to go
		r := f.prepare(policy.Request{LoRA: name})
		f.place(r, f.engines[2])
		f.event(policy.Finished, r.Slot, 1)
	}
	has := func(name string) bool {
		return p.Explain(policy.Request{LoRA: name}, f.candidates()).Reason == policy.AdapterLoaded
	}
	if !has("x") || has("y") || !has("z") {
		t.Error(has("x"), has("y"), has("z"))
	}
	f.die(2)
	f.gone = map[int]bool{}
	if f.tell(); has("x") {
		t.Error("an engine that started anew has an adapter")
	}
}

func TestLoRASurvivesCountsThatMakeNoSense(t *testing.T) {
	f := newFleet(&policy.LoRA{}, 2)
	for i := range 20 {
		f.place(f.prepare(policy.Request{LoRA: "x"}), f.engines[i%2])
	}
	for rank := range f.engines {
		f.engines[rank].InFlight = math.MaxInt - 1 // what they add up to is less than nothing
	}
	f.engines[0].InFlight++
	if _, rank := f.send(t, policy.Request{LoRA: "x"}); rank != 1 {
		t.Errorf("went to %d", rank)
	}
}
