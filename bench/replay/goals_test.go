// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"slices"
	"testing"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

// seeds are of those traces that goals have to hold on, one by one.
func seeds() []uint64 {
	if raceDetector {
		return []uint64{1} // it takes ten times as long, and there is one goroutine
	}
	return []uint64{1, 2, 3}
}

// named is a scenario that has to be there.
func named(t *testing.T, name string) replay.Scenario {
	t.Helper()
	all := replay.Scenarios()
	i := slices.IndexFunc(all, func(s replay.Scenario) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no scenario %s", name)
	}
	return all[i]
}

// replayed is what a scenario gives with a seed.
func replayed(t *testing.T, s replay.Scenario, seed uint64, policies ...policy.Policy) []*replay.Result {
	t.Helper()
	trace, err := s.Trace(seed)
	if err != nil {
		t.Fatal(err)
	}
	results, err := replay.Run(t.Context(), s.Fleet, trace, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestShortestWaitHasTheFirstTokenSoonerThanLeastLoaded(t *testing.T) {
	for _, s := range replay.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			most := 1.0
			if s.Name == "unequal" || s.Name == "bursty" {
				most = 0.8
			}
			for _, seed := range seeds() {
				r := replayed(t, s, seed, &policy.LeastLoaded{}, &policy.ShortestWait{})
				theirs, ours := r[0].TTFT.P99, r[1].TTFT.P99
				t.Logf("seed %d: p99 %.0f ms, LeastLoaded's %.0f ms: %.2f", seed, ours, theirs, ours/theirs)
				if ours > most*theirs {
					t.Errorf("seed %d: p99 %.0f ms is more than %.2f of %.0f ms", seed, ours, most, theirs)
				}
			}
		})
	}
}

func TestPrefixHitsTwiceAsOftenAsLeastLoadedAndBalances(t *testing.T) {
	for _, seed := range seeds() {
		r := replayed(t, named(t, "prefix"), seed, &policy.LeastLoaded{}, &policy.Prefix{})
		t.Logf("seed %d: hits %.3f, LeastLoaded's %.3f; max/mean %.2f", seed, r[1].PrefixHits, r[0].PrefixHits, r[1].MaxMean)
		if r[1].PrefixHits < 2*r[0].PrefixHits {
			t.Errorf("seed %d: hits %.3f, LeastLoaded's %.3f", seed, r[1].PrefixHits, r[0].PrefixHits)
		}
		if r[1].MaxMean > 1.25 {
			t.Errorf("seed %d: max/mean outstanding is %.2f", seed, r[1].MaxMean)
		}
	}
}

func TestR7BalanceByReportDelay(t *testing.T) {
	type entry struct {
		name string
		new  func() policy.Policy
		most float64 // max/mean outstanding; 0: whatever it is
	}
	policies := []entry{
		{"least-loaded", func() policy.Policy { return &policy.LeastLoaded{} }, 1.25}, // the default
		{"least-loaded-legacy", func() policy.Policy { return &policy.LeastLoadedLegacy{Rotate: true} }, 0},
		{"shortest-wait", func() policy.Policy { return &policy.ShortestWait{} }, 1.25},
		{"least-tokens", func() policy.Policy { return &policy.LeastTokens{} }, 1.25},
		{"power-of-two", func() policy.Policy { return &policy.PowerOfTwo{} }, 1.25},
		{"round-robin", func() policy.Policy { return &policy.RoundRobin{} }, 0},
		{"random", func() policy.Policy { return &policy.Random{} }, 0},
		{"session", func() policy.Policy { return &policy.Session{} }, 1.25},
		{"prefix", func() policy.Policy { return &policy.Prefix{} }, 1.25},
	}
	s := named(t, "steady")
	s.Engines, s.Rate, s.Requests = 4, s.Rate/4, 1200
	for _, delay := range []float64{0, 100, 1000} {
		s.Report = ms(delay)
		worst := make([]float64, len(policies))
		for _, seed := range seeds() {
			var fresh []policy.Policy
			for _, p := range policies {
				fresh = append(fresh, p.new())
			}
			for i, r := range replayed(t, s, seed, fresh...) {
				worst[i] = max(worst[i], r.MaxMean)
			}
		}
		for i, p := range policies {
			t.Logf("reports every %4.0f ms: %-20s %.2f", delay, p.name, worst[i])
			if p.most > 0 && worst[i] > p.most {
				t.Errorf("%s with reports every %.0f ms: max/mean outstanding is %.2f", p.name, delay, worst[i])
			}
		}
	}
}
