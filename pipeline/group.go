// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Group owns the goroutines of one pipeline and the channels between them. The
// first stage that fails ends all of them; its error, a *StageError, is the
// cause of the context of all others and what Wait returns.
type Group struct {
	eg     *errgroup.Group
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	joints map[any]any // *joint[T] by its <-chan T, until a stage reads it
}

// NewGroup starts an empty group under ctx.
func NewGroup(ctx context.Context) *Group {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{eg: new(errgroup.Group), ctx: ctx, cancel: cancel, joints: map[any]any{}}
}

// Context is the one that stages get.
func (g *Group) Context() context.Context { return g.ctx }

// Cancel ends the group with a cause that Wait returns.
func (g *Group) Cancel(cause error) { g.cancel(cause) }

// Wait waits for every stage and returns the first failure or Cancel's cause.
func (g *Group) Wait() error {
	err := g.eg.Wait()
	if err == nil && g.ctx.Err() != nil {
		err = context.Cause(g.ctx)
	}
	g.cancel(context.Canceled) // releases the context; too late to be a cause
	return err
}

// Err is the first failure so far.
func (g *Group) Err() error {
	if failed, ok := errors.AsType[*StageError](context.Cause(g.ctx)); ok {
		return failed
	}
	return nil
}

// From runs s as the start of a chain and returns what it emits, through a
// channel of the given buffer.
func From[Out any](g *Group, name string, buffer int, s Source[Out]) <-chan Out {
	out := newJoint[Out](g, buffer)
	at := &place{Context: g.ctx, out: out}
	g.run(name, func() error { return s(at, out.ch) }, func() { close(out.ch) })
	return out.ch
}

// Via runs s on what comes from in and returns what it emits.
func Via[In, Out any](g *Group, name string, in <-chan In, buffer int, s Stage[In, Out]) <-chan Out {
	out := newJoint[Out](g, buffer)
	at := &place{Context: g.ctx, in: join(g, name, in, out), out: out}
	g.run(name, func() error { return s(at, in, out.ch) }, func() {
		close(out.ch)
		drain(g.ctx, name, in)
	})
	return out.ch
}

// To runs s as the end of a chain.
func To[In any](g *Group, name string, in <-chan In, s Sink[In]) {
	at := &place{Context: g.ctx, in: join(g, name, in, nil)}
	g.run(name, func() error { return s(at, in) }, func() { drain(g.ctx, name, in) })
}

// run owns one stage's goroutine. A failure cancels the group before finish
// runs, so that finish may wait for the stages before this one to end.
func (g *Group) run(name string, stage func() error, finish func()) {
	g.eg.Go(func() error {
		defer finish()
		if err := protect(stage); err != nil {
			return g.fail(name, err)
		}
		return nil
	})
}

// protect turns a panic of f into a *PanicError.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// failer is a value on its way that can tell its owner that it goes no further.
type failer interface{ Fail(err error) }

// drain takes what a stage left unread when it returned, so that the stages
// before it never block, and fails what has an owner.
func drain[T any](ctx context.Context, stage string, in <-chan T) {
	for v := range in {
		if f, ok := any(v).(failer); ok {
			err := context.Cause(ctx)
			if err == nil {
				err = &StageError{Stage: stage, Err: ErrDropped}
			}
			f.Fail(err)
		}
	}
}

// StageError is the failure of a stage.
type StageError struct {
	Stage string // the name it was joined under
	Err   error
}

func (e *StageError) Error() string { return fmt.Sprintf("pipeline: stage %s: %v", e.Stage, e.Err) }

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic in a stage or a policy. Its text leaves the Stack out.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
