// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport/inproc"
)

// count is a user's code: it asks an engine for n tokens and counts them.
func count(ctx context.Context, client *pipeline.Client, n int) (tokens int) {
	stream, err := client.Submit(ctx, &codec.Request{ID: "r1", Prompt: []uint32{1, 2, 3}, Sampling: &codec.SamplingParams{MaxTokens: n}})
	if err != nil {
		return 0
	}
	for out, err := range stream.All(ctx) {
		if err != nil {
			return 0
		}
		tokens += len(out.Tokens)
	}
	return tokens
}

// The Transport keeps everything in this process, and the Launcher brings the
// engines: no libzmq, no GPU.
func ExampleSim() {
	ctx := context.Background()
	client, err := pipeline.Connect(ctx, pipeline.Config{Transport: new(inproc.Network), Launch: engine.Cores{&engine.Sim{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(count(ctx, client, 5), client.Close(ctx))
	// Output: 5 <nil>
}

// The same in a test, where steps of 20 ms take no time and every goroutine that
// stays behind is a failure.
func TestSimStepsTakeFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := &engine.Sim{StepTime: 20 * time.Millisecond}
		client, err := pipeline.Connect(t.Context(), pipeline.Config{Transport: new(inproc.Network), Launch: engine.Cores{sim}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context())
		began := time.Now()
		if n := count(t.Context(), client, 5); n != 5 || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%d tokens in %v, want 5 in 100ms", n, time.Since(began))
		}
	})
}
