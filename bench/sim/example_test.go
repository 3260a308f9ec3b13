// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/corepipe/corepipe/bench/sim"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport/inproc"
)

// Engines that dial the launcher, as real ones do, in the same process.
func ExampleStart() {
	ctx, network := context.Background(), &inproc.Network{}
	engines, err := sim.Start(ctx, sim.Config{
		Transport: network, Handshake: "inproc://handshake", Engines: 2,
		Core: func(int) engine.Core { return &engine.Sim{StepTime: time.Millisecond} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engines.Stop()
	client, err := pipeline.Connect(ctx, pipeline.Config{
		Transport: network, Engines: 2, Launch: &launch.Handshake{Endpoint: "inproc://handshake"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	for _, e := range client.Engines() {
		fmt.Println(e.Rank, e.State, e.Release)
	}
	// Output:
	// 0 ready 0.32.0
	// 1 ready 0.32.0
}
