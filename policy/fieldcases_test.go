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

// The number is that of the collection of public bug reports that this case comes from.

// BenchmarkX5 is the table of what a choice costs with few and with many engines:
//
//	go test ./policy -run '^$' -bench X5
func BenchmarkX5(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(all())) {
		for _, engines := range []int{2, 8, 64, 256} {
			b.Run(fmt.Sprintf("policy=%s/engines=%d", name, engines), func(b *testing.B) {
				benchmarkPick(b, all()[name], engines)
			})
		}
	}
}

func TestX5TheDefaultChoosesOf64EnginesInLessThan5Microseconds(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes each access many times slower: what it measures is not the policy")
	}
	const most = 5 * time.Microsecond
	var took time.Duration
	for range 5 { // one quiet moment of a busy machine is enough
		r := testing.Benchmark(func(b *testing.B) {
			benchmarkPick(b, &policy.LateInteraction{Next: &policy.LeastLoaded{}}, 64)
		})
		if took = time.Duration(r.NsPerOp()); r.N > 0 && took < most {
			t.Logf("%v, of %d choices", took, r.N)
			return
		}
	}
	t.Errorf("a choice took %v, want less than %v", took, most)
}
