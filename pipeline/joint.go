// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// joint is where two stages meet: a channel, and a way around it. While the stage
// behind it idles, a value is handled by a call in the emitter's goroutine. To wake
// another costs ten times what a stage does with a value, because a second thread
// comes awake and looks for work; a stage that is busy gets its values by the
// channel, in its own goroutine. Values keep their order either way.
type joint[T any] struct {
	group *Group
	ch    chan T
	stage string // the one behind; set when it is joined
	next  link   // the joint behind that; nil behind a sink
	waits bool   // the stage may wait for something of its user's; set before call is

	queued atomic.Int64            // values sent to ch that are not handled
	call   atomic.Pointer[call[T]] // nil: ch alone
	mu     sync.Mutex              // held while the stage handles a value
}

// call handles a value without waiting, and is false when it would have to wait;
// the value comes again by the channel then.
type call[T any] func(v T) (done bool, err error)

// link is a joint of any type.
type link interface {
	// direct says that a value would be handled to the end of the chain by calls that
	// wait for nothing.
	direct() bool
}

func (j *joint[T]) direct() bool {
	return j.call.Load() != nil && !j.waits && j.queued.Load() == 0 && (j.next == nil || j.next.direct())
}

// emit hands v on, by a call or by the channel.
func (j *joint[T]) emit(ctx context.Context, v T) error {
	// Who emits alone adds to queued, so that 0 stays 0 here.
	if f := j.call.Load(); f != nil && j.queued.Load() == 0 && j.mu.TryLock() {
		if done, err := j.handle(*f, v); done || err != nil {
			return err
		}
	}
	j.queued.Add(1)
	err := send(ctx, j.ch, v)
	if err != nil {
		j.queued.Add(-1)
	}
	return err
}

// handle runs f in the emitter's goroutine. What it fails of is its own stage's.
func (j *joint[T]) handle(f call[T], v T) (done bool, err error) {
	defer j.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
		if err != nil {
			j.call.Store(nil)
			err = j.group.fail(j.stage, err)
		}
	}()
	return f(v)
}

// take begins the handling of a value that came by the channel; done ends it.
func (j *joint[T]) take() { j.mu.Lock() }

func (j *joint[T]) done() {
	j.mu.Unlock()
	j.more()
}

// more notes that one more value of the channel is handled.
func (j *joint[T]) more() { j.queued.Add(-1) }

// serve is the loop of a stage that can be called: f is run on each value of in, by
// one at a time, here or in the goroutine of who emits. waits says that f may wait for
// something: then it is not run in the goroutine of a Client's caller.
func serve[In any](ctx context.Context, in <-chan In, waits bool, f func(v In) error) error {
	j, end := offer(ctx, in, waits, func(v In) (bool, error) { return true, f(v) })
	defer end()
	one := func(v In) error {
		j.take()
		defer j.done()
		return f(v)
	}
	for v := range in {
		if err := one(v); err != nil {
			return err
		}
	}
	return nil
}

// offer lets the stage be called, until end. The joint of a channel that no Group
// has made is nobody's.
func offer[In any](ctx context.Context, in <-chan In, waits bool, f call[In]) (j *joint[In], end func()) {
	if j = inlet(ctx, in); j == nil {
		return new(joint[In]), func() {}
	}
	j.waits = waits
	j.call.Store(&f)
	return j, func() {
		j.mu.Lock() // a call has ended
		defer j.mu.Unlock()
		j.call.Store(nil)
	}
}

// place is the context of one stage: it knows the joints on both sides.
type place struct {
	context.Context
	in, out any // *joint[In], *joint[Out]; nil at the ends
}

type placeKey struct{}

// Value finds the place in contexts derived from it.
func (p *place) Value(key any) any {
	if key == (placeKey{}) {
		return p
	}
	return p.Context.Value(key)
}

func placeOf(ctx context.Context) *place {
	if p, ok := ctx.(*place); ok {
		return p
	}
	p, _ := ctx.Value(placeKey{}).(*place)
	return p
}

// inlet is the joint of in; nil when no Group has made it.
func inlet[In any](ctx context.Context, in <-chan In) *joint[In] {
	if p := placeOf(ctx); p != nil {
		if j, ok := p.in.(*joint[In]); ok && (<-chan In)(j.ch) == in {
			return j
		}
	}
	return nil
}

// outlet is the joint of out; nil when no Group has made it.
func outlet[Out any](ctx context.Context, out chan<- Out) *joint[Out] {
	if p := placeOf(ctx); p != nil {
		if j, ok := p.out.(*joint[Out]); ok && (chan<- Out)(j.ch) == out {
			return j
		}
	}
	return nil
}

// newJoint makes the channel behind a stage, known to the group by its reading end.
func newJoint[T any](g *Group, buffer int) *joint[T] {
	j := &joint[T]{group: g, ch: make(chan T, buffer)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.joints[(<-chan T)(j.ch)] = j
	return j
}

// join gives stage what is before it; nil when in is not of the group, or two
// stages read it.
func join[In any](g *Group, stage string, in <-chan In, next link) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	j, ok := g.joints[in].(*joint[In])
	if !ok {
		return nil
	}
	delete(g.joints, in)
	j.stage, j.next = stage, next
	return j
}

// fail makes err the failure of stage, unless it is somebody else's that passes
// through, and returns why the group ends.
func (g *Group) fail(stage string, err error) error {
	if !errors.Is(err, context.Cause(g.ctx)) {
		g.cancel(&StageError{Stage: stage, Err: err})
	}
	return context.Cause(g.ctx)
}
