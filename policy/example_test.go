// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"

	"github.com/corepipe/corepipe/policy"
)

// A policy of one's own, as a function.
func ExampleFunc() {
	emptiest := policy.Func(func(_ policy.Request, engines []policy.Engine) int {
		best := 0
		for i := range engines {
			if engines[i].KVUsage < engines[best].KVUsage {
				best = i
			}
		}
		return best
	})
	fmt.Println(emptiest.Pick(policy.Request{}, []policy.Engine{{Rank: 4, KVUsage: 0.9}, {Rank: 5, KVUsage: 0.2}}))
	// Output: 1
}
