// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corepipe/corepipe/bench/replay"
	"github.com/corepipe/corepipe/policy"
)

func TestAResultIsOfTheTimeFromTheFirstArrivalToTheLast(t *testing.T) {
	trace := replay.Trace{
		{At: ms(1000), Prompt: 100, Output: 5}, // done after 64 ms, on the first engine
		{At: ms(1032), Prompt: 100, Output: 5}, // on the other one
		{At: ms(1128), Prompt: 100, Output: 50},
	}
	got := run(t, replay.Fleet{Engines: 2, Model: plain()}, trace, &policy.RoundRobin{})
	got.DecisionsPerSecond = 0
	want := &replay.Result{
		Requests: 3, Done: 3,
		TTFT:    replay.Quantiles{P50: 20, P99: 20},
		E2E:     replay.Quantiles{P50: 64, P99: 20 + 49*11},
		MaxMean: 1.5, MaxMeanEngine: 1, // for 96 ms some engine has one; on average each has half of one
		TokensPerSecond: 78.1, // ten in 128 ms
		Engines:         []replay.Engine{{Requests: 2, Outstanding: 0.5, Busy: 0.5}, {Requests: 1, Outstanding: 0.5, Busy: 0.5}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}
