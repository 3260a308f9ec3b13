// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/corepipe/corepipe/policy"
)

func engines(n int) []policy.Engine {
	e := make([]policy.Engine, n)
	for i := range e {
		e[i].Rank = i
	}
	return e
}

func TestRoundRobinGivesEachItsTurn(t *testing.T) {
	var p policy.RoundRobin
	var got []int
	for range 5 {
		got = append(got, p.Pick(policy.Request{}, engines(3)))
	}
	got = append(got, p.Pick(policy.Request{}, engines(2))) // an engine has gone
	if !slices.Equal(got, []int{0, 1, 2, 0, 1, 0}) {
		t.Fatalf("got %v", got)
	}
}

func TestLeastLoaded(t *testing.T) {
	for name, c := range map[string]struct {
		engines []policy.Engine
		want    int
	}{
		"fewer requests win":               {[]policy.Engine{{Running: 3}, {Rank: 1, Running: 2}}, 1},
		"a full cache counts with a queue": {[]policy.Engine{{Waiting: 10, Running: 50, KVUsage: 1}, {Rank: 1, Waiting: 12, Running: 50, KVUsage: 0.2}}, 1}, // R5
		"half a cache does not":            {[]policy.Engine{{Waiting: 10, Running: 50, KVUsage: 0.2}, {Rank: 1, Waiting: 12, Running: 50, KVUsage: 0.2}}, 0},
		"a full cache without a queue":     {[]policy.Engine{{Running: 4, KVUsage: 1}, {Rank: 1, Running: 5}}, 0},
		"our own in flight are the least":  {[]policy.Engine{{InFlight: 6}, {Rank: 1, Running: 5}}, 1},
		"ties go to the first in the scan": {[]policy.Engine{{Rank: 8}, {Rank: 9}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := new(policy.LeastLoaded).Pick(policy.Request{}, c.engines); got != c.want {
				t.Fatalf("picked %d, want %d", got, c.want)
			}
		})
	}
}

func TestLeastLoadedSpreadsABurstBeforeAnyReport(t *testing.T) { // R1
	var p policy.LeastLoaded
	e := engines(4)
	counts := make([]int, 4)
	for range 8 {
		i := p.Pick(policy.Request{}, e)
		e[i].InFlight++
		counts[i]++
	}
	if !slices.Equal(counts, []int{2, 2, 2, 2}) {
		t.Fatalf("got %v", counts)
	}
}

func TestLeastLoadedBreaksTiesEvenly(t *testing.T) { // R2
	var p policy.LeastLoaded
	counts := make([]int, 4)
	for range 1000 {
		e := engines(4)
		p.Reported(e)
		counts[p.Pick(policy.Request{}, e)]++
	}
	if !slices.Equal(counts, []int{250, 250, 250, 250}) {
		t.Fatalf("got %v", counts)
	}
}

func TestLeastLoadedForgetsItsGuessesWhenReportsStop(t *testing.T) { // R4
	var p policy.LeastLoaded
	e := engines(2)
	for range 1000 { // all on engine 1, and finished since
		e[0].InFlight, e[1].InFlight = 10, 0
		p.Pick(policy.Request{}, e)
	}
	for i := range e {
		e[i].Stale = true
	}
	for range 5 {
		if got := p.Pick(policy.Request{}, e); got != 1 {
			t.Fatalf("picked %d", got)
		}
	}
}

func TestSeveralFrontEndsStartApart(t *testing.T) {
	var first []int
	for client := range 4 {
		p := policy.LeastLoaded{ClientIndex: client, ClientCount: 4}
		first = append(first, p.Pick(policy.Request{}, engines(8)))
	}
	if !slices.Equal(first, []int{0, 2, 4, 6}) {
		t.Fatalf("got %v", first)
	}
}

func TestLateInteractionBindsAQuery(t *testing.T) {
	p := &policy.LateInteraction{}
	for _, c := range []struct {
		key  string
		want int
	}{{"q-abc", 1}, {"q-abc", 1}, {"other", 0}, {"", 0}, {"", 1}} { // as recorded from vLLM, then round robin
		if got := p.Pick(policy.Request{QueryKey: c.key}, engines(4)); got != c.want {
			t.Errorf("%q went to %d, want %d", c.key, got, c.want)
		}
	}
}

func TestADeadEngineMovesItsOwnQueriesAlone(t *testing.T) {
	p := &policy.LateInteraction{}
	var all []policy.Engine
	for i := range 4 {
		all = append(all, policy.Engine{Rank: 10 + i, Index: i})
	}
	without := slices.Delete(slices.Clone(all), 1, 2)
	moved := 0
	for i := range 100 {
		r := policy.Request{QueryKey: fmt.Sprint("query", i), Managed: 4}
		before, after := all[p.Pick(r, all)], without[p.Pick(r, without)]
		if before.Index != 1 && after.Rank != before.Rank {
			t.Fatalf("%s moved from rank %d to %d", r.QueryKey, before.Rank, after.Rank)
		}
		if before.Index == 1 {
			moved++
			if after.Index != 2 {
				t.Fatalf("%s went to index %d, want the next one", r.QueryKey, after.Index)
			}
		}
	}
	if moved == 0 {
		t.Fatal("no query was at home there")
	}
}
