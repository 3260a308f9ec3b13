// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline/engine"
	"github.com/corepipe/corepipe/transport"
	"github.com/corepipe/corepipe/transport/inproc"
)

// fill adds n requests that outlast any benchmark.
func fill(s engine.Core, n int) {
	for i := range n {
		s.Add(&codec.Request{
			ID: fmt.Sprintf("cmpl-%016x-%d", i*7919, i), Prompt: []uint32{1, 2, 3},
			Sampling: &codec.SamplingParams{MaxTokens: 1 << 40, IgnoreEOS: true},
		})
	}
}

func BenchmarkSimStep(b *testing.B) {
	for _, n := range []int{1, 32, 256} {
		for _, kv := range []int{0, 1 << 30} {
			b.Run(fmt.Sprintf("running=%d/kv=%v", n, kv > 0), func(b *testing.B) {
				s := &engine.Sim{MaxModelLen: 1 << 50, KVTokens: kv << 20}
				fill(s, n)
				b.ReportAllocs()
				for b.Loop() {
					s.Step(0)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/token")
			})
		}
	}
}

func BenchmarkSimRequest(b *testing.B) {
	s := &engine.Sim{NoStats: true}
	b.ReportAllocs()
	for b.Loop() {
		s.Add(&codec.Request{ID: "cmpl-1234567890", Prompt: []uint32{1, 2, 3}, Sampling: &codec.SamplingParams{MaxTokens: 1}})
		s.Step(0)
	}
}

// What an engine costs from step to wire, unpaced, over memory.
func BenchmarkServe(b *testing.B) {
	for _, n := range []int{1, 32, 256} {
		b.Run(fmt.Sprintf("running=%d", n), func(b *testing.B) {
			network := new(inproc.Network)
			bind := func(p transport.Pattern, at string) transport.Conn {
				conn, err := network.Open(b.Context(), transport.Socket{Pattern: p, Endpoint: at, Bind: true})
				must(b, err)
				b.Cleanup(func() { must(b, conn.Close()) })
				return conn
			}
			bind(transport.Router, "inproc://in")
			out := bind(transport.Pull, "inproc://out")
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			s := &engine.Sim{MaxModelLen: 1 << 50}
			fill(s, n)
			go func() {
				done <- engine.Serve(ctx, engine.Config{
					Transport: network, Inputs: []string{"inproc://in"}, Outputs: []string{"inproc://out"},
				}, s)
			}()
			b.ReportAllocs()
			for b.Loop() {
				_, err := out.Recv(b.Context())
				must(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/token")
			stop()
			must(b, <-done)
		})
	}
}

func TestStepsOfASimAllocateNothing(t *testing.T) {
	s := &engine.Sim{MaxModelLen: 1 << 50}
	fill(s, 256)
	s.Step(0)
	if n := testing.AllocsPerRun(100, func() { s.Step(0) }); n > 0 {
		t.Errorf("a step allocates %v times, want 0", n)
	}
}
