// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/policy"
	"github.com/corepipe/corepipe/transport"
)

// BenchmarkStages is what joining costs: stages that do nothing.
func BenchmarkStages(b *testing.B) {
	pass := pipeline.Stage[int, int](func(ctx context.Context, in <-chan int, out chan<- int) error {
		for v := range in {
			if err := pipeline.Emit(ctx, out, v); err != nil {
				return err
			}
		}
		return nil
	})
	for name, stage := range map[string]pipeline.Stage[int, int]{
		"range":    pass,
		"map":      pipeline.Map(func(i int) (int, error) { return i, nil }),
		"parallel": pipeline.Parallel(2, func(i int) (int, error) { return i, nil }),
	} {
		for _, stages := range []int{1, 4} { // and a source and a sink
			b.Run(fmt.Sprintf("stage=%s/stages=%d/buffer=16", name, stages), func(b *testing.B) {
				b.ReportAllocs()
				g := pipeline.NewGroup(b.Context())
				c := pipeline.From(g, "source", 16, numbers(b.N))
				for range stages {
					c = pipeline.Via(g, "stage", c, 16, stage)
				}
				pipeline.To(g, "sink", c, func(_ context.Context, in <-chan int) error {
					for range in {
					}
					return nil
				})
				if err := g.Wait(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func BenchmarkGather(b *testing.B) {
	for _, limit := range []int{1, 64} {
		b.Run(fmt.Sprintf("limit=%d/buffer=64", limit), func(b *testing.B) {
			b.ReportAllocs()
			g := pipeline.NewGroup(b.Context())
			in := pipeline.From(g, "source", 64, numbers(b.N))
			pipeline.To(g, "sink", pipeline.Via(g, "gather", in, 64, pipeline.Gather[int](limit)), func(_ context.Context, in <-chan []int) error {
				for range in {
				}
				return nil
			})
			if err := g.Wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRoute is one request through the route stage, and back to idle.
func BenchmarkRoute(b *testing.B) {
	for _, engines := range []int{1, 4, 64} {
		b.Run(fmt.Sprintf("engines=%d", engines), func(b *testing.B) {
			table := readyTable(b, engines)
			layout := defaultLayout(b)
			in, out := make(chan pipeline.Encoded), make(chan pipeline.Routed)
			done := make(chan error, 1)
			go func() { done <- pipeline.Route(&policy.LeastLoaded{}, table)(b.Context(), in, out) }()
			r := simple("r")
			b.ReportAllocs()
			for b.Loop() {
				add, _, err := table.Admit(r)
				if err != nil {
					b.Fatal(err)
				}
				in <- pipeline.Encoded{Command: add, Layout: layout}
				<-out
				table.Finish("r")
			}
			close(in)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkDecodeAndDispatch is one step of an engine, to streams nobody reads.
func BenchmarkDecodeAndDispatch(b *testing.B) {
	for _, rows := range []int{1, 256} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			table := readyTable(b, 1)
			layout := defaultLayout(b)
			var o codec.Outputs
			in, out := make(chan pipeline.Encoded), make(chan pipeline.Routed)
			go func() { _ = pipeline.Route(&policy.RoundRobin{}, table)(b.Context(), in, out) }()
			for i := range rows {
				id := fmt.Sprintf("cmpl-0123456789abcdef-%016d-0", i)
				add, _, err := table.Admit(simple(id))
				if err != nil {
					b.Fatal(err)
				}
				in <- pipeline.Encoded{Command: add, Layout: layout}
				<-out
				o.Rows = append(o.Rows, row(id, codec.FinishNone, uint32(i)))
			}
			frame, _, err := layout.AppendOutputs(nil, nil, &o)
			if err != nil {
				b.Fatal(err)
			}
			packets, decoded := make(chan transport.Packet, 16), make(chan pipeline.Decoded, 16)
			done := make(chan error, 2)
			go func() { done <- pipeline.Decode(table, 0)(b.Context(), packets, decoded); close(decoded) }()
			go func() { done <- pipeline.Dispatch(table)(b.Context(), decoded) }()
			b.ReportAllocs()
			for b.Loop() {
				packets <- transport.Packet{Frames: [][]byte{frame}}
			}
			close(packets)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
