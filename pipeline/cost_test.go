// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// The benchmarks of this file are the cost model of the package's documentation: a
// Client whose transport costs nothing.

// BenchmarkRequest is the life of a request: Submit, encode, route, send, its only
// output and the end of its stream, all in the goroutines that a Client has.
func BenchmarkRequest(b *testing.B) {
	for _, prompt := range []int{128, 4096} {
		b.Run(fmt.Sprintf("prompt=%d", prompt), func(b *testing.B) {
			c, engine := connectStill(b)
			n, r, last := int64(0), simple("request"), stepOf(b, codec.FinishLength, "request")
			r.Prompt = make([]uint32, prompt)
			for i := range r.Prompt {
				r.Prompt[i] = uint32(i * 7919 % 128_000)
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := c.Submit(context.Background(), r)
				if err != nil {
					b.Fatal(err)
				}
				n++
				engine.give(n, last)
				if _, err := s.Next(context.Background()); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Next(context.Background()); !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkX2 is a step of 256 requests: decoded, dispatched and read. With a reader
// each, every output wakes a goroutine; without, one goroutine reads all streams.
func BenchmarkX2(b *testing.B) {
	const rows = 256
	for _, readers := range []bool{false, true} {
		for _, live := range []int{256, 10_000} {
			b.Run(fmt.Sprintf("readers=%v/live=%d", readers, live), func(b *testing.B) {
				f := newCrowd(b, live, rows, readers)
				b.ReportAllocs()
				for b.Loop() {
					f.step()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/output")
			})
		}
	}
}

// crowd has live streams, of which the first few get a token in each step.
type crowd struct {
	tb      testing.TB
	engine  *still
	live    int64
	message transport.Packet
	streams []*pipeline.Stream // those that get tokens
	readers bool
	read    sync.WaitGroup // outputs of a step that are not read
}

func newCrowd(tb testing.TB, live, rows int, readers bool) *crowd {
	tb.Helper()
	c, engine := connectStill(tb)
	f := &crowd{tb: tb, engine: engine, live: int64(live), readers: readers}
	var ids []string
	for i := range live {
		id := fmt.Sprint("request-", i)
		s, err := c.Submit(context.Background(), simple(id))
		if err != nil {
			tb.Fatal(err)
		}
		if i >= rows {
			continue
		}
		ids, f.streams = append(ids, id), append(f.streams, s)
		if readers {
			go func() { // ends when the client is closed
				for {
					if _, err := s.Next(context.Background()); err != nil {
						return
					}
					f.read.Done()
				}
			}()
		}
	}
	f.message = stepOf(tb, codec.FinishNone, ids...)
	return f
}

// step gives each of the streams a token and waits until all are read.
func (f *crowd) step() {
	if f.readers {
		f.read.Add(len(f.streams))
		f.engine.give(f.live, f.message)
		f.read.Wait()
		return
	}
	f.engine.give(f.live, f.message)
	for _, s := range f.streams {
		if o, err := s.Next(context.Background()); err != nil || len(o.Tokens) != 1 {
			f.tb.Fatal(o, err)
		}
	}
}

// BenchmarkWake is what no client gets below: goroutines woken together that do
// nothing.
func BenchmarkWake(b *testing.B) {
	const n = 256
	var done sync.WaitGroup
	sleepers := make([]sleeper, n)
	for i := range sleepers {
		sleepers[i].cond.L = &sleepers[i].mu
		go sleepers[i].sleep(&done) // ends when it is woken for the last time
	}
	wake := func(over bool) {
		done.Add(n)
		for i := range sleepers {
			sleepers[i].wake(over)
		}
		done.Wait()
	}
	for b.Loop() {
		wake(false)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/wake")
	wake(true)
}

// sleeper is a goroutine that is woken again and again.
type sleeper struct {
	mu    sync.Mutex
	cond  sync.Cond
	woken int
	over  bool
}

func (w *sleeper) sleep(done *sync.WaitGroup) {
	for over := false; !over; done.Done() {
		w.mu.Lock()
		for w.woken == 0 {
			w.cond.Wait()
		}
		w.woken--
		over = w.over
		w.mu.Unlock()
	}
}

func (w *sleeper) wake(over bool) {
	w.mu.Lock()
	w.woken++
	w.over = over
	w.mu.Unlock()
	w.cond.Signal()
}
