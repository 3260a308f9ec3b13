// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/corepipe/corepipe/pipeline"
)

func TestCombinators(t *testing.T) {
	even := func(i int) bool { return i%2 == 0 }
	var seen []int
	for name, c := range map[string]struct {
		stage pipeline.Stage[int, int]
		want  []int
	}{
		"Map turns each into one": {pipeline.Map(func(i int) (int, error) { return -i, nil }), []int{-1, -2, -3, -4}},
		"Each emits any number": {pipeline.Each(func(_ context.Context, i int, emit func(int) error) error {
			for range i - 2 {
				if err := emit(i); err != nil {
					return err
				}
			}
			return nil
		}), []int{3, 4, 4}},
		"Tap shows and passes on": {pipeline.Tap(func(i int) { seen = append(seen, i) }), []int{1, 2, 3, 4}},
		"Filter keeps":            {pipeline.Filter(even), []int{2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got, err := through(t, 4, c.stage); err != nil || !slices.Equal(got, c.want) {
					t.Fatalf("got %v, %v, want %v", got, err, c.want)
				}
			})
		})
	}
	if !slices.Equal(seen, []int{1, 2, 3, 4}) {
		t.Fatalf("Tap saw %v", seen)
	}
}

func TestGatherTakesWhatIsQueuedAndDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pipeline.NewGroup(t.Context())
		burst := func(ctx context.Context, out chan<- int) error {
			for i := range 5 {
				if err := pipeline.Emit(ctx, out, i); err != nil {
					return err
				}
			}
			time.Sleep(time.Second) // fake: the bubble is idle until the sixth
			return pipeline.Emit(ctx, out, 5)
		}
		var got [][]int
		var at []time.Duration
		began := time.Now()
		in := pipeline.From(g, "burst", 8, burst)
		synctest.Wait()
		pipeline.To(g, "collect", pipeline.Via(g, "gather", in, 0, pipeline.Gather[int](3)), func(_ context.Context, in <-chan []int) error {
			for v := range in {
				got, at = append(got, v), append(at, time.Since(began))
			}
			return nil
		})
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		want := [][]int{{0, 1, 2}, {3, 4}, {5}}
		if !slices.EqualFunc(got, want, slices.Equal) || at[1] != 0 || at[2] != time.Second {
			t.Fatalf("got %v at %v, want %v", got, at, want)
		}
	})
}

func TestParallelKeepsOrderAndBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		running := make(chan struct{}, 4) // blocks for good, and so fails the test, at a fifth
		var most atomic.Int64
		got, err := through(t, 12, pipeline.Parallel(4, func(i int) (int, error) {
			running <- struct{}{}
			for n := int64(len(running)); ; {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(time.Duration(13-i) * time.Second) // fake: later ones are faster
			<-running
			return i, nil
		}))
		if err != nil || !slices.IsSorted(got) || len(got) != 12 {
			t.Fatalf("got %v, %v", got, err)
		}
		if most.Load() != 4 {
			t.Fatalf("%d at once, want 4", most.Load())
		}
		if d := time.Since(began); d >= 78*time.Second {
			t.Fatalf("took %v: not parallel", d)
		}
	})
}

func TestParallelFailsWhileItsInputIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pipeline.NewGroup(t.Context())
		one := func(ctx context.Context, out chan<- int) error {
			if err := pipeline.Emit(ctx, out, 1); err != nil {
				return err
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		fail := pipeline.Parallel(2, func(int) (int, error) { return 0, context.DeadlineExceeded })
		pipeline.To(g, "sink", pipeline.Via(g, "parallel", pipeline.From(g, "one", 0, one), 0, fail), collect(new([]int)))
		if err := g.Wait(); err == nil {
			t.Fatal("the failure was lost")
		}
	})
}
