// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
)

// Two ranks of a mixture-of-experts model in virtual time, without a coordinator:
// the second has nothing to do and takes part all the same, once it is woken.
func ExampleNewLockstep() {
	ranks := engine.NewLockstep(1, &engine.Sim{StepTime: 10 * time.Millisecond}, &engine.Sim{StepTime: 30 * time.Millisecond})
	ranks[0].Add(&codec.Request{ID: "r1", Prompt: []uint32{1}, Sampling: &codec.SamplingParams{MaxTokens: 2}})
	ranks[1].StartWave(0, codec.Exclude{})
	var now time.Duration
	for {
		for _, r := range ranks {
			r.Step(now)
		}
		if ranks[0].Met() == nil {
			fmt.Println("all rest before wave", ranks[0].Load().Wave)
			return
		}
		now += ranks[0].Took()
		for _, r := range ranks {
			r.End()
		}
		fmt.Println("step until", now)
	}
	// Output:
	// step until 30ms
	// step until 60ms
	// all rest before wave 1
}
