// SPDX-License-Identifier: Apache-2.0

package pipeline

import "context"

// Stage reads values from in until it is closed and emits what becomes of them.
// A Group runs it in a goroutine of its own, and makes and closes its channels:
// a stage never closes out. It returns nil when in has ended, or an error, which ends
// the whole group. A stage may hold state without locks.
//
// The stages of this package but Gather and Parallel are called in the goroutine of the
// stage before them while their own idles, by one at a time. One that ranges over in
// itself never is:
//
//	func(ctx context.Context, in <-chan In, out chan<- Out) error {
//		for v := range in {
//			if err := Emit(ctx, out, f(v)); err != nil {
//				return err
//			}
//		}
//		return nil
//	}
type Stage[In, Out any] func(ctx context.Context, in <-chan In, out chan<- Out) error

// Source emits values until it has no more or the context ends.
type Source[Out any] func(ctx context.Context, out chan<- Out) error

// Sink reads values until in is closed.
type Sink[In any] func(ctx context.Context, in <-chan In) error

// Emit sends v, or returns the context's cause when that ends first. ctx is the
// stage's, or derived from it. It is how a stage sends: values that it sends to out
// itself may be passed by others.
func Emit[T any](ctx context.Context, out chan<- T, v T) error {
	if j := outlet(ctx, out); j != nil {
		return j.emit(ctx, v)
	}
	return send(ctx, out, v)
}

// send is Emit through the channel. With room in it this costs what a plain send does.
func send[T any](ctx context.Context, out chan<- T, v T) error {
	select {
	case out <- v:
		return nil
	default:
	}
	select {
	case out <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
