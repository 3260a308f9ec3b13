// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"math/rand/v2"
	"time"
)

// world is what is simulated.
type world struct {
	Engines                    int
	Slow                       func(i int) float64 // times as slow; nil: all alike
	Step, PromptToken, Running time.Duration
	Batch, Chunk               int // requests, and prompt tokens, in a step at most; 0: any
	Report                     time.Duration
	Requests                   int
	Rate                       float64 // requests a second
	Burst                      int     // requests that arrive together; 0: one by one
	Prompt, Answer             func(r *rand.Rand) int
	Prefixes, PrefixTokens     int // so many prefixes are shared
	CachedPrefixes             int // that an engine has room for; 0: all
	Seed                       uint64
	Dies                       time.Duration // when engine 0 goes; 0: never
}

// result is what came of it.
type result struct {
	First, End []time.Duration // sorted
	Hits       float64         // share of prompt tokens that were cached
	MaxMean    float64         // of the engines' time-averaged outstanding requests
	Left       int             // sum of in flight at the end
}

func (r result) p(q float64, of []time.Duration) time.Duration {
	return of[min(int(q*float64(len(of))), len(of)-1)]
}
