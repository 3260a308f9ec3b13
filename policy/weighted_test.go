// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"math"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/policy"
)

func TestWeightedGivesByCapacity(t *testing.T) {
	for name, next := range map[string]policy.Policy{
		"least load": nil, "least loaded": &policy.LeastLoaded{}, "least tokens": &policy.LeastTokens{},
		"turns": &policy.RoundRobin{}, "chance": &policy.Random{},
	} {
		p := &policy.Weighted{Next: next}
		f := newFleet(p, 3)
		f.engines[0].Weight = 7 // Set says otherwise
		f.engines[2].Weight = 2
		p.Set(map[int]float64{0: 1, -1: 5})
		for range 400 {
			f.send(t, policy.Request{Prompt: 10})
		}
		n := f.outstanding()
		if math.Abs(float64(n[0]-100)) > 15 || math.Abs(float64(n[1]-100)) > 15 || math.Abs(float64(n[2]-200)) > 15 {
			t.Errorf("%s: %v, want 100, 100, 200", name, n)
		}
	}
}

func TestWeightedTurnsAreExact(t *testing.T) {
	f := newFleet(&policy.Weighted{Next: &policy.RoundRobin{}}, 2)
	f.engines[0].Weight, f.engines[1].Weight = 2, 3
	for range 500 {
		f.send(t, policy.Request{})
	}
	if n := f.outstanding(); n[0] < 199 || n[0] > 201 {
		t.Errorf("%v, want 200, 300", n)
	}
}

func TestABadWeightCountsAsOne(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := &policy.Weighted{}
		f := newFleet(p, 2)
		p.Set(map[int]float64{0: bad})
		f.engines[0].Weight, f.engines[1].Weight = 5, bad
		for range 10 {
			f.send(t, policy.Request{})
		}
		if got := f.outstanding(); !slices.Equal(got, []int{5, 5}) {
			t.Errorf("%v: %v", bad, got)
		}
	}
}

func TestWeightsMayChangeMeanwhile(t *testing.T) {
	p := &policy.Weighted{Next: &policy.LeastTokens{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 1000 {
			p.Set(map[int]float64{i % 4: float64(i)})
		}
	}()
	f := newFleet(p, 4)
	for range 1000 {
		f.serve(t, policy.Request{Prompt: 1})
	}
	<-done
}
