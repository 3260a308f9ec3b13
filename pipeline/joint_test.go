// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
	"github.com/corepipe/corepipe/transport"
)

// afterIdle emits 1 to n once all stages behind it idle, and calls then after each.
func afterIdle(n int, then func(i int)) pipeline.Source[int] {
	return func(ctx context.Context, out chan<- int) error {
		synctest.Wait()
		for i := range n {
			if err := pipeline.Emit(ctx, out, i+1); err != nil {
				return err
			}
			then(i + 1)
		}
		return nil
	}
}

// same is a stage that passes everything on.
func same(f func(int)) pipeline.Stage[int, int] { return pipeline.Tap(f) }

// sink is the end of a chain that can be called.
func sink(g *pipeline.Group, in <-chan int, f func(int)) {
	pipeline.To(g, "nothing", pipeline.Via(g, "sink", in, 1, pipeline.Each(
		func(_ context.Context, v int, _ func(int) error) error { f(v); return nil })), collect(new([]int)))
}

func TestAnIdleStageIsCalledByTheOneBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := 0 // without a lock: it is one goroutine's
		g := pipeline.NewGroup(t.Context())
		in := pipeline.From(g, "source", 1, afterIdle(100, func(i int) {
			if seen != i {
				t.Errorf("after %d was emitted, %d were handled", i, seen)
			}
		}))
		sink(g, pipeline.Via(g, "same", in, 1, same(func(int) {})), func(int) { seen++ })
		if err := g.Wait(); err != nil || seen != 100 {
			t.Fatal(seen, err)
		}
	})
}

func TestAStageThatReadsItsChannelItselfHasAGoroutineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		g := pipeline.NewGroup(t.Context())
		in := pipeline.From(g, "source", 1, afterIdle(2, func(i int) {
			if i == 2 {
				close(release) // both were emitted while the first one is being handled
			}
		}))
		pipeline.To(g, "slow", in, func(_ context.Context, in <-chan int) error {
			for range in {
				<-release
			}
			return nil
		})
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestValuesKeepTheirOrderByCallAndByChannel(t *testing.T) {
	const n = 20_000
	var got []int
	g := pipeline.NewGroup(t.Context())
	in := pipeline.From(g, "source", 4, func(ctx context.Context, out chan<- int) error {
		for i := range n {
			if i%7 == 0 {
				runtime.Gosched() // the stages idle now and then
			}
			if err := pipeline.Emit(ctx, out, i); err != nil {
				return err
			}
		}
		return nil
	})
	byHand := func(ctx context.Context, in <-chan int, out chan<- int) error {
		for v := range in {
			if err := pipeline.Emit(ctx, out, v); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range 3 {
		in = pipeline.Via(g, fmt.Sprint("called", i), in, 2, same(func(v int) {
			if v%11 == i {
				runtime.Gosched()
			}
		}))
		in = pipeline.Via(g, fmt.Sprint("by hand", i), in, 2, byHand)
	}
	sink(g, in, func(v int) { got = append(got, v) })
	if err := g.Wait(); err != nil || len(got) != n || !slices.IsSorted(got) {
		t.Fatal(len(got), err)
	}
}

// A value that came by the channel is not overtaken by one that comes by a call, also
// where the stage has received it and has not begun with it.
func TestValuesKeepTheirOrderWhileAStageBegins(t *testing.T) {
	for i := range 5000 {
		var got []int
		g := pipeline.NewGroup(t.Context())
		in := pipeline.From(g, "source", 4, func(ctx context.Context, out chan<- int) error {
			for v := range 4 {
				for range i % 64 {
					runtime.Gosched()
				}
				if err := pipeline.Emit(ctx, out, v); err != nil {
					return err
				}
			}
			return nil
		})
		sink(g, in, func(v int) { got = append(got, v) })
		if err := g.Wait(); err != nil || !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Fatal(got, err)
		}
	}
}

func TestAFailureOfACalledStageIsItsOwn(t *testing.T) {
	boom := errors.New("boom")
	for name, f := range map[string]func(int) (int, error){
		"error": func(int) (int, error) { return 0, boom },
		"panic": func(int) (int, error) { panic(boom) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := pipeline.NewGroup(t.Context())
				in := pipeline.From(g, "source", 1, afterIdle(3, func(int) { t.Error("the source went on") }))
				in = pipeline.Via(g, "before", in, 1, same(func(int) {}))
				sink(g, pipeline.Via(g, "culprit", in, 1, pipeline.Map(f)), func(int) {})
				err := g.Wait()
				var failed *pipeline.StageError
				if !errors.As(err, &failed) || failed.Stage != "culprit" {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}

// A caller is never held up by a stage of the user's that waits, whether it is one
// that can be called or not.
func TestSubmitDoesNotWaitForAStage(t *testing.T) {
	for name, stage := range map[string]func(wait func()) pipeline.Stage[pipeline.Command, pipeline.Command]{
		"a Tap": func(wait func()) pipeline.Stage[pipeline.Command, pipeline.Command] {
			return pipeline.Tap(func(pipeline.Command) { wait() })
		},
		"a stage by hand": func(wait func()) pipeline.Stage[pipeline.Command, pipeline.Command] {
			return func(ctx context.Context, in <-chan pipeline.Command, out chan<- pipeline.Command) error {
				for c := range in {
					wait()
					if err := pipeline.Emit(ctx, out, c); err != nil {
						return err
					}
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, peers, _ := connect(t, 1, func(c *pipeline.Config) {
					c.Wire = wireWith(stage(func() { time.Sleep(time.Second) })) // fake
				})
				began := time.Now()
				for i := range 100 {
					submit(t, c, simple(fmt.Sprint("r", i)))
				}
				if d := time.Since(began); d > 0 {
					t.Errorf("submitting took %v", d)
				}
				for i := range 100 {
					if m := peers[0].next(); m.request.ID != fmt.Sprint("r", i) {
						t.Fatalf("request %d is %v", i, m.request)
					}
				}
			})
		})
	}
}

// sender notes in whose goroutine it is told to send.
type sender struct {
	transport.Conn
	sent *atomic.Int64
}

func (s sender) Send(p transport.Packet) error { s.sent.Add(1); return s.Conn.Send(p) }

func TestSubmitSendsByItselfWhileTheStagesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		c, peers, _ := connect(t, 1, func(c *pipeline.Config) {
			c.Wire = func(g *pipeline.Group, p pipeline.Parts) {
				p.Input = sender{p.Input, &sent}
				pipeline.Wire(g, p)
			}
		})
		synctest.Wait()
		for i := range 10 {
			s := submit(t, c, simple(fmt.Sprint("r", i)))
			if n := sent.Load(); n != int64(2*i+1) {
				t.Fatalf("after request %d was submitted, %d messages were sent", i, n)
			}
			s.Close()
			if n := sent.Load(); n != int64(2*i+2) {
				t.Fatalf("after request %d was closed, %d messages were sent", i, n)
			}
			if m := peers[0].next(); m.kind != codec.Add {
				t.Fatal(m)
			}
			if m := peers[0].next(); m.kind != codec.Abort {
				t.Fatal(m)
			}
		}
	})
}
