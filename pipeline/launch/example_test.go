// SPDX-License-Identifier: Apache-2.0

package launch_test

import (
	"context"
	"fmt"

	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/pipeline/launch"
	"github.com/corepipe/corepipe/transport/inproc"
)

// An engine that somebody else starts dials the handshake, here in memory; over
// ZeroMQ it may be vLLM's.
func ExampleHandshake() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	network := new(inproc.Network)
	go func() {
		_ = engine.Serve(ctx, engine.Config{Transport: network, Handshake: "tcp://127.0.0.1:29550"}, &engine.Sim{}) // ends with ctx
	}()
	client, err := pipeline.Connect(ctx, pipeline.Config{
		Transport: network,
		Launch:    &launch.Handshake{Endpoint: "tcp://127.0.0.1:29550"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.Engines()[0].State, client.Engines()[0].Release)
	_ = client.Close(ctx)
	// Output: ready 0.32.0
}
