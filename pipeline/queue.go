// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"sync"
)

// queue is where callers leave their commands and the pipeline takes them: in the
// goroutine of its source, or in a caller's while the whole chain behind it idles.
// Nothing here blocks a caller, so that aborts pass whatever happens; admission bounds
// how many commands there can be.
type queue struct {
	kick chan struct{} // one slot: the source is to look

	mu       sync.Mutex // after turn
	commands []Command  // nil before head
	head     int
	closed   bool

	turn sync.Mutex // held by who passes a command on, so that they keep their order
	emit func(Command) error
	next link // what emit emits to; nil when nobody knows
}

// maxPushed is how many commands, of others too, a caller passes on in one go.
const maxPushed = 16

func newQueue() *queue { return &queue{kick: make(chan struct{}, 1)} }

// put has the source pass c on. It is ignored after close: then every stream and call
// has ended, and none is admitted.
func (q *queue) put(c Command) {
	q.add(c)
	q.wake()
}

// add is the first half of put, for under Table.mu; push or wake is the other.
func (q *queue) add(c Command) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.commands = append(q.commands, c)
	}
}

// push passes what was added on, in this goroutine as far as no stage has to be waited
// for.
func (q *queue) push() {
	for n := 0; n < maxPushed && q.waiting(); n++ {
		if !q.turn.TryLock() {
			return // who has the turn looks again after it
		}
		passed := q.next != nil && q.next.direct() && q.pass() == nil
		q.turn.Unlock()
		if !passed {
			break
		}
	}
	if q.waiting() {
		q.wake()
	}
}

// close ends the source once it has passed on what is queued.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.kick <- struct{}{}:
	default:
	}
}

// waiting says whether there is something to be passed on.
func (q *queue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head < len(q.commands)
}

// pass passes one command on if there is one; the turn is held. What cannot be
// emitted stays, for the owner to fail.
func (q *queue) pass() error {
	q.mu.Lock()
	if q.head == len(q.commands) {
		q.mu.Unlock()
		return nil
	}
	c := q.commands[q.head]
	q.mu.Unlock()
	if err := q.emit(c); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.commands[q.head] = nil
	if q.head++; q.head > len(q.commands)/2 {
		n := copy(q.commands, q.commands[q.head:])
		clear(q.commands[n:])
		q.commands, q.head = q.commands[:n], 0
	}
	return nil
}

// source emits the commands in the order in which they were put.
func (q *queue) source(ctx context.Context, out chan<- Command) error {
	q.join(func(c Command) error { return Emit(ctx, out, c) }, outlet(ctx, out))
	defer q.join(nil, nil)
	for {
		for q.waiting() {
			q.turn.Lock()
			err := q.pass()
			q.turn.Unlock()
			if err != nil {
				return err
			}
		}
		if q.over() {
			return nil
		}
		select {
		case <-q.kick:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// join says where commands go.
func (q *queue) join(emit func(Command) error, j *joint[Command]) {
	q.turn.Lock()
	defer q.turn.Unlock()
	if q.emit, q.next = emit, nil; j != nil {
		q.next = j
	}
}

// over says that all is passed on and nothing more will come.
func (q *queue) over() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && q.head == len(q.commands)
}
