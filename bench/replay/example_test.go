// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

func ExampleRun() {
	trace, err := replay.Workload{Requests: 2000, Rate: 35}.Trace(1)
	if err != nil {
		panic(err)
	}
	fleet := replay.Fleet{Engines: 4, Speeds: []float64{1, 1, 1, 0.5}}
	results, err := replay.Run(context.Background(), fleet, trace, &policy.LeastLoaded{}, &policy.ShortestWait{})
	if err != nil {
		panic(err)
	}
	theirs, ours := results[0].TTFT.P99, results[1].TTFT.P99
	fmt.Println("ShortestWait is sooner:", ours < 0.8*theirs)
	// Output: ShortestWait is sooner: true
}
