// SPDX-License-Identifier: Apache-2.0

package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/corepipe/corepipe/pipeline"
)

// numbers emits 1 to n.
func numbers(n int) pipeline.Source[int] {
	return func(ctx context.Context, out chan<- int) error {
		for i := range n {
			if err := pipeline.Emit(ctx, out, i+1); err != nil {
				return err
			}
		}
		return nil
	}
}

// forever emits until the context ends.
func forever(ctx context.Context, out chan<- int) error {
	for i := 0; ; i++ {
		if err := pipeline.Emit(ctx, out, i); err != nil {
			return err
		}
	}
}

// collect appends to all.
func collect[T any](all *[]T) pipeline.Sink[T] {
	return func(_ context.Context, in <-chan T) error {
		for v := range in {
			*all = append(*all, v)
		}
		return nil
	}
}

// through runs 1..n through a stage and returns what comes out.
func through[T any](t *testing.T, n int, s pipeline.Stage[int, T]) ([]T, error) {
	t.Helper()
	var got []T
	g := pipeline.NewGroup(t.Context())
	pipeline.To(g, "collect", pipeline.Via(g, "stage", pipeline.From(g, "numbers", 3, numbers(n)), 3, s), collect(&got))
	err := g.Wait()
	return got, err
}

func TestGroupPassesEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		double := pipeline.Map(func(i int) (int, error) { return 2 * i, nil })
		got, err := through(t, 4, double)
		if err != nil || !slices.Equal(got, []int{2, 4, 6, 8}) {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}

func TestFirstErrorIsTheOriginsAndEndsAll(t *testing.T) {
	boom := errors.New("boom")
	for name, stage := range map[string]pipeline.Stage[int, int]{
		"of Map":      pipeline.Map(func(int) (int, error) { return 0, boom }),
		"of Parallel": pipeline.Parallel(2, func(int) (int, error) { return 0, boom }),
		"of a stage": func(context.Context, <-chan int, chan<- int) error {
			return boom
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := pipeline.NewGroup(t.Context())
				out := pipeline.Via(g, "middle", pipeline.From(g, "source", 0, forever), 0, stage)
				pipeline.To(g, "sink", out, collect(new([]int)))
				err := g.Wait()
				var s *pipeline.StageError
				if !errors.As(err, &s) || s.Stage != "middle" || !errors.Is(err, boom) {
					t.Fatalf("got %v, want middle's boom", err)
				}
				if context.Cause(g.Context()) != err { //nolint:errorlint // the very same value
					t.Fatalf("the cause is %v, not %v", context.Cause(g.Context()), err)
				}
			})
		})
	}
}

func TestPanicOfAStageIsItsError(t *testing.T) {
	for name, stage := range map[string]pipeline.Stage[int, int]{
		"in a stage's goroutine":  pipeline.Map(func(int) (int, error) { panic("oops") }),
		"in a worker of Parallel": pipeline.Parallel(3, func(int) (int, error) { panic("oops") }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := pipeline.NewGroup(t.Context())
				pipeline.To(g, "sink", pipeline.Via(g, "middle", pipeline.From(g, "source", 0, forever), 0, stage), collect(new([]int)))
				var p *pipeline.PanicError
				if err := g.Wait(); !errors.As(err, &p) || p.Value != "oops" || len(p.Stack) == 0 {
					t.Fatalf("got %v, want the panic with its stack", err)
				}
			})
		})
	}
}

func TestAStageThatEndsEarlyDoesNotBlockTheOnesBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := through(t, 100, func(ctx context.Context, in <-chan int, out chan<- int) error {
			return pipeline.Emit(ctx, out, <-in)
		})
		if err != nil {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}

func TestCancelIsWhatWaitReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pipeline.NewGroup(t.Context())
		pipeline.To(g, "sink", pipeline.From(g, "source", 0, forever), collect(new([]int)))
		why := errors.New("enough")
		g.Cancel(why)
		if err := g.Wait(); !errors.Is(err, why) {
			t.Fatalf("got %v", err)
		}
	})
}
