// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"

	"github.com/corepipe/corepipe/codec"
	"github.com/corepipe/corepipe/pipeline"
)

// loop is the core stage's state; its goroutine alone touches it.
type loop struct {
	core     Core
	mortal   Mortal // nil when the core cannot die
	waver    Waver  // nil when the core knows no waves
	lockstep *Rank  // nil when the core steps alone
	loader   Loader // nil when the core does not know its load
	rank     int
	clients  int
	counters *Counters
	stop     <-chan struct{} // closed when the engine is to end
	skip     func(error)
	hangUp   func() // ends the stages before this one

	out         chan<- result
	live        map[string]int // the client of each unfinished request
	held        []message      // came during a step, to be handled after it
	gone        map[string]struct{}
	parts       []codec.Outputs // of one step, by client; reused
	encoded     chan struct{}   // one slot: the step that was lent to encode is back
	lent        bool
	coordinated bool       // there is a coordinator
	shares      bool       // it is told of loads, and clients of what has finished
	told        codec.Load // the last report's counts
	finished    [][]string // by client: requests that ended since its last message

	closing bool // no new work
	death   *DeathError

	began time.Time
	paced bool          // the last Step took time
	due   time.Duration // when it ended by its own account
	timer *time.Timer
}

// maxLag is how late a step may begin and still count as begun when the one
// before ended. Timers are late by up to a millisecond, which must not add up.
const maxLag = 10 * time.Millisecond

// maxDrain bounds the messages handled before a step, so that a flood cannot
// hold the steps up for ever.
const maxDrain = 4096

// stage is the engine's busy loop: take what has come, compute a step, wait as
// long as it takes, send what it gives.
func (l *loop) stage(ctx context.Context, in <-chan message, out chan<- result) error {
	defer l.hangUp()
	l.out = out
	l.timer = time.NewTimer(time.Hour)
	defer l.timer.Stop()
	for {
		if l.stopped() {
			return l.shutdown(ctx, in)
		}
		if err := l.drain(ctx, in); err != nil {
			return err
		}
		if err := l.reclaim(ctx); err != nil {
			return err
		}
		if err := l.report(ctx); err != nil {
			return err
		}
		begin := l.clock()
		o, took := l.core.Step(begin)
		l.paced, l.due = took > 0, begin+took
		var err error
		switch {
		case o != nil || took > 0 || l.joined():
			err = l.step(ctx, in, o)
		case !l.died():
			err = l.rest(ctx, in)
		}
		if err != nil || l.died() {
			return err
		}
	}
}

// step waits for the end of a step, drops what was aborted meanwhile, and sends
// the rest of it; then comes what else had to wait.
func (l *loop) step(ctx context.Context, in <-chan message, o *codec.Outputs) error {
	if err := l.meet(ctx, in); err != nil || l.stopped() {
		return err
	}
	if err := l.wait(ctx, in); err != nil || l.stopped() {
		return err
	}
	if l.lockstep != nil {
		l.lockstep.End()
	}
	for _, m := range l.held {
		l.drop(m.abort)
		for _, id := range m.abort {
			l.gone[id] = struct{}{}
		}
	}
	if o != nil {
		if err := l.deliver(ctx, o); err != nil {
			return err
		}
	}
	clear(l.gone)
	if err := l.report(ctx); err != nil {
		return err
	}
	return l.release(ctx)
}

// wait holds messages back until the step is due.
func (l *loop) wait(ctx context.Context, in <-chan message) error {
	left := l.due - time.Since(l.began)
	if left <= 0 {
		return nil
	}
	l.timer.Reset(left)
	return hold(ctx, l, in, l.timer.C)
}

// hold holds messages back until something happens or the engine is to end.
func hold[T any](ctx context.Context, l *loop, in <-chan message, until <-chan T) error {
	for {
		select {
		case m, ok := <-in:
			if !ok {
				in = nil
				continue
			}
			l.held = append(l.held, m)
		case <-until:
			return nil
		case <-l.stop:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// release handles what was held back.
func (l *loop) release(ctx context.Context) error {
	for _, m := range l.held {
		if err := l.handle(ctx, m); err != nil {
			return err
		}
	}
	clear(l.held)
	l.held = l.held[:0]
	return nil
}

// drain handles what has come, without waiting.
func (l *loop) drain(ctx context.Context, in <-chan message) error {
	for range maxDrain {
		select {
		case m, ok := <-in:
			if !ok {
				return nil
			}
			if err := l.handle(ctx, m); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// rest waits for a message: the core has nothing to do.
func (l *loop) rest(ctx context.Context, in <-chan message) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	select {
	case m, ok := <-in:
		if !ok { // closed by nobody but us; there is nothing to wait for but the end
			select {
			case <-l.stop:
			case <-ctx.Done():
			}
			return context.Cause(ctx)
		}
		return l.handle(ctx, m)
	case <-l.stop:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// clock is the time of the next step.
func (l *loop) clock() time.Duration {
	now := time.Since(l.began)
	if lag := now - l.due; l.paced && lag > 0 && lag < maxLag {
		return l.due
	}
	return now
}

func (l *loop) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// died asks a mortal core.
func (l *loop) died() bool {
	if l.mortal == nil || l.death != nil {
		return l.death != nil
	}
	if err, announced := l.mortal.Dead(); err != nil {
		l.death = &DeathError{Rank: l.rank, Announced: announced, Err: err}
	}
	return l.death != nil
}

// reclaim waits until the last step's memory is the core's again.
func (l *loop) reclaim(ctx context.Context) error {
	if !l.lent {
		return nil
	}
	l.lent = false
	select {
	case <-l.encoded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// emit sends a message to one client.
func (l *loop) emit(ctx context.Context, r result) error {
	r.outputs.Engine, r.outputs.Timestamp = l.rank, seconds(time.Since(l.began))
	return pipeline.Emit(ctx, l.out, r)
}
