// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/corepipe/corepipe/policy"
)

// These are what has gone wrong for people who route requests, by number.

// byLoad are the policies that are to balance.
func byLoad() map[string]policy.Policy {
	m := all()
	for _, name := range []string{"power-of-two", "random", "weighted-chance"} {
		delete(m, name)
	}
	return m
}

func TestR1AFirstBurstIsSpreadBeforeAnyReport(t *testing.T) {
	for name, p := range byLoad() {
		f := newFleet(p, 4)
		for i := range 8 {
			f.send(t, policy.Request{Tokens: prompt(i, 100)})
		}
		if got := f.outstanding(); !slices.Equal(got, []int{2, 2, 2, 2}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestR2TiesGoRound(t *testing.T) {
	for name, p := range byLoad() {
		f := newFleet(p, 4)
		counts := make([]int, 4)
		for i := range 1000 {
			if r, ok := p.(policy.Reporter); ok {
				r.Reported(f.candidates())
			}
			counts[f.serve(t, policy.Request{Tokens: prompt(i, 100)})]++
		}
		if slices.Min(counts) < 249 || slices.Max(counts) > 251 {
			t.Errorf("%s: %v", name, counts)
		}
	}
}

func TestR3ASessionStaysAtLowLoad(t *testing.T) {
	for _, name := range []string{"session", "prefix", "layers"} {
		f := newFleet(all()[name], 4)
		f.serve(t, policy.Request{Session: "other", Tokens: prompt(9, 200)})
		home := f.serve(t, policy.Request{Session: "s", Tokens: prompt(1, 100)})
		for turn := range 20 {
			if got := f.serve(t, policy.Request{Session: "s", Tokens: prompt(1, 200+100*turn)}); got != home {
				t.Errorf("%s: turn %d went to %d, the first one to %d", name, turn, got, home)
			}
		}
	}
}

func TestR4WhatHasFinishedIsForgottenWithoutReports(t *testing.T) {
	for name, p := range byLoad() {
		if name == "round-robin" || name == "weighted-turns" || name == "late-interaction" {
			continue // whatever the load
		}
		f := newFleet(p, 2)
		for i := range 1000 { // on engine 1
			r := f.prepare(policy.Request{Tokens: prompt(i, 100)})
			f.place(r, f.engines[1])
			f.event(policy.Finished, r.Slot, 5)
		}
		for i := range 10 { // on engine 0, and not finished
			f.place(f.prepare(policy.Request{Tokens: prompt(-i, 100)}), f.engines[0])
		}
		for i := range f.engines {
			f.engines[i].Stale = true
		}
		for i := range 5 {
			if _, rank := f.send(t, policy.Request{Tokens: prompt(2000+i, 100)}); rank != 1 {
				t.Errorf("%s: request %d went to engine %d", name, i, rank)
			}
		}
	}
}

func TestR5AFullCacheCountsWithAQueue(t *testing.T) {
	for want, kv := range []float64{0.2, 1} {
		e := []policy.Engine{{Waiting: 10, Running: 50, KVUsage: kv}, {Rank: 1, Waiting: 12, Running: 50, KVUsage: 0.2}}
		if got := new(policy.LeastLoaded).Pick(policy.Request{}, e); got != want {
			t.Errorf("with %v in use: engine %d", kv, got)
		}
	}
}

func TestR6ASlowEngineGetsNoMoreThanItsShareOfWhatIsOutstanding(t *testing.T) {
	slow := func(i int) float64 {
		if i == 3 {
			return 10
		}
		return 1
	}
	for _, name := range []string{"least-loaded", "least-loaded-legacy", "shortest-wait", "least-tokens", "session", "prefix", "lora"} {
		w := base()
		w.Engines, w.Rate, w.Report, w.Requests, w.Slow, w.Prompt, w.Answer = 4, 20, 0, 1000, slow, fixed(100), fixed(50)
		p := all()[name]
		if r := w.run(p); r.MaxMean > 1.5 {
			t.Errorf("%s: an engine had %.2f times the mean", name, r.MaxMean)
		}
	}
}

func TestR11AMissGoesByLoad(t *testing.T) {
	f := newFleet(&policy.Prefix{}, 2)
	for kind := range 20 { // engine 1 has many prefixes and is idle
		r := f.prepare(policy.Request{Tokens: prompt(kind, 200)})
		f.place(r, f.engines[1])
		f.event(policy.Finished, r.Slot, 1)
	}
	f.engines[0].InFlight = 50
	if _, rank := f.send(t, policy.Request{Tokens: prompt(99, 200)}); rank != 1 {
		t.Fatalf("a new prefix went to engine %d", rank)
	}
}

func TestR12AHotKeyDoesNotOverloadItsEngine(t *testing.T) {
	f := newFleet(&policy.Session{}, 4)
	homes := map[string]int{}
	cold := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, s := range append(cold, "hot") {
		homes[s] = f.serve(t, policy.Request{Session: s})
	}
	var live []int
	moved := 0
	for i := range 2000 {
		s := "hot"
		if i%5 == 0 {
			s = cold[i/5%len(cold)]
		}
		slot, rank := f.send(t, policy.Request{Session: s})
		live = append(live, slot)
		total := len(live)
		if most := slices.Max(f.outstanding()); most > (5*total+15)/16 { // ⌈1.25 · mean⌉
			t.Fatalf("request %d: an engine has %d of %d", i, most, total)
		}
		if rank != homes[s] && s != "hot" && i > 200 {
			moved++
		}
		if s != "hot" || i == 200 {
			homes[s] = rank
		}
		if len(live) > 60 {
			f.event(policy.Finished, live[0], 1)
			live = live[1:]
		}
	}
	if moved > 0 { // at first some do, to make room for the hot one
		t.Errorf("the other sessions moved %d times", moved)
	}
}

func TestR13RequestsOfOnePromptSpread(t *testing.T) {
	f := newFleet(&policy.Prefix{}, 4)
	for range 8 {
		f.send(t, policy.Request{Tokens: prompt(1, 640)})
		n := f.outstanding()
		mean := float64(len(f.live)) / 4
		if ahead := slices.Max(n) - slices.Min(n); float64(ahead) > 1+(mean+4)/4 {
			t.Fatalf("%v", n)
		}
	}
	if got := slices.Max(f.outstanding()); got > 3 {
		t.Fatalf("%v", f.outstanding())
	}
}

func TestR14WithoutReportsOurOwnRequestsDecideAndItShows(t *testing.T) {
	for _, name := range []string{"least-loaded", "least-loaded-legacy", "power-of-two", "weighted"} {
		p := all()[name]
		f := newFleet(p, 2)
		f.engines[0].InFlight = 3
		_, rank := f.send(t, policy.Request{})
		if d := p.(policy.Decider).Decided(); d.Reason != policy.LeastLoad || rank != 1 && name != "least-loaded-legacy" {
			t.Errorf("%s: %v, engine %d", name, d, rank)
		}
		for i := range f.engines {
			f.engines[i].Stale = true
		}
		_, rank = f.send(t, policy.Request{})
		if d := p.(policy.Decider).Decided(); d.Reason != policy.Degraded || rank != 1 {
			t.Errorf("%s: %v, engine %d", name, d, rank)
		}
	}
	p := &policy.ShortestWait{}
	e := engines(2)
	e[0].Stale = true
	for clients, want := range []policy.Reason{policy.LeastLoad, policy.LeastLoad, policy.Degraded} {
		p.Pick(policy.Request{Clients: clients}, e)
		if d := p.Decided(); d.Reason != want {
			t.Errorf("shortest-wait with %d front ends: %v", clients, d)
		}
	}
}

func TestASessionMovesWhenItsEngineIsGoneOrItRestsTooLong(t *testing.T) {
	p := &policy.Session{Idle: time.Minute}
	f := newFleet(p, 4)
	r := policy.Request{Session: "s"}
	expect := func(want policy.Reason) {
		t.Helper()
		if d := p.Decided(); d != (policy.Decision{Policy: "session", Reason: want}) {
			t.Errorf("%v, want %q", d, want)
		}
	}
	home := f.serve(t, r)
	expect(policy.SessionNew)
	f.gone[home] = true // drained, say
	next := f.serve(t, r)
	expect(policy.SessionMove)
	f.gone[home] = false
	if got := f.serve(t, r); got != next {
		t.Errorf("went to %d, its new home is %d", got, next)
	}
	expect(policy.SessionHome)
	f.now += time.Minute
	f.serve(t, r)
	expect(policy.SessionNew)
	f.die(f.serve(t, r))
	f.gone = map[int]bool{} // it started anew
	f.serve(t, r)
	expect(policy.SessionNew)
}
