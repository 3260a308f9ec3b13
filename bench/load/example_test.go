// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/bench/load"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// A benchmark of one's own: any Submitter, here a client of two simulated engines.
func ExampleRun() {
	ctx := context.Background()
	client, err := pipeline.Connect(ctx, pipeline.Config{
		Transport: &inproc.Network{},
		Engines:   2,
		Launch:    engine.Cores{&engine.Sim{}, &engine.Sim{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	r, err := load.Run(ctx, client, load.Config{Requests: 500, OutputTokens: 16, Verify: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d done, %d failed, %d tokens\n", r.Done, r.Failed, r.OutputTokens)
	// Output: 500 done, 0 failed, 8000 tokens
}
